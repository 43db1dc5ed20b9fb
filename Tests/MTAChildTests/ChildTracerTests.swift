import Foundation
import ProcessProtocol
import PushCore
import Synchronization
import TestSupport
import Testing

@testable import Gateways
@testable import HTTP2
@testable import MTAChild

/// What a child writes about its traffic, and that the sending never waits for it.
@Suite("Traces of a child", .timeLimit(.minutes(2)))
struct ChildTracerTests {
    /// Records its tracers; sends nothing.
    private final class LookedAt: Gateway {
        let tracers = Mutex<[Bool]>([])
        let canBeShown: Bool
        let untraced = "it is binary"
        let answers = GatewayAnswers.apnsHTTP2
        var payloadFormat: PayloadFormat { .apns }
        var limits: GatewayLimits { GatewayLimits(maxPayloadBytes: 4_096) }

        init(canBeShown: Bool = true) { self.canBeShown = canBeShown }

        func trace(with tracer: (any GatewayTracer)?) -> Bool {
            tracers.withLock { $0.append(tracer != nil) }
            return canBeShown
        }

        func start() async throws {}
        func submit(_ batch: GatewayRequestBatch) {}
        func cancelQueued() {}
        func retryNow() {}
        func status() async -> GatewayStatus { GatewayStatus() }
        func shutdown() async {}
    }

    private func order(_ id: Int64, unmasked: Bool = false) -> TraceOrder {
        var request = TraceRequest(applicationID: 1, application: "shop", person: "ada")
        request.isUnmasked = unmasked
        return TraceOrder(id: id, request)
    }

    private func exchange() -> CopiedExchange {
        let body = Array(#"{"aps":{"alert":"Hello Ada"}}"#.utf8)
        let batch = HTTP2RequestBatch(
            sharedHeaders: [HTTP2HeaderField(":method", "POST"), HTTP2HeaderField("authorization", "bearer abc.def")],
            perRequestHeaderNames: [],
            capacity: 1,
            bodyBytes: body.count
        )
        batch.append(path: Array("/3/device/tok".utf8), headerValues: [ArraySlice<UInt8>](), body: body)
        let response = HTTP2Response(status: 200)
        let completion = HTTP2Completion(
            batch: batch,
            index: 0,
            latencyMicroseconds: 1_500,
            result: .response(response)
        )
        return CopiedExchange(completion, deliveryID: 7, token: Array("tok".utf8)[...])
    }

    /// The reports that a tracer has written once `isEnough` returns true for them.
    private func lines(_ pipe: Pipe, until isEnough: ([TraceReport]) -> Bool) throws -> [TraceReport] {
        var parser = LineParser<ChildMessage>()
        var reports: [TraceReport] = []
        while !isEnough(reports) {
            let bytes = try #require(try pipe.fileHandleForReading.read(upToCount: 1))
            reports += parser.parse(bytes).compactMap(\.trace)
        }
        #expect(parser.garbageLines == 0)
        return reports
    }

    @Test("The gateway is traced from the first order to the end of the last trace")
    func begins() throws {
        let pipe = Pipe()
        let tracer = ChildTracer(output: ChildOutput(pipe.fileHandleForWriting))
        let gateway = LookedAt()
        tracer.obey(order(1), of: gateway)
        tracer.obey(order(2, unmasked: true), of: gateway)
        tracer.saw(exchange(), for: [1, 2])
        let reports = try lines(pipe) { $0.count == 4 }
        #expect(reports.map(\.trace) == [1, 2, 1, 2] && reports.allSatisfy { $0.notice == nil })
        let (masked, plain) = (reports[2].exchange, reports[3].exchange)
        #expect(masked?.request.body == #"{"aps":{"alert":"*********"}}"# && masked?.delivery == 7)
        #expect(plain?.request.body == #"{"aps":{"alert":"Hello Ada"}}"# && plain?.latencyMicroseconds == 1_500)
        #expect(masked?.answer?.headers == [TracedExchange.Field(name: ":status", value: "200")])
        for exchange in [masked, plain] {
            let fields = exchange?.request.headers.map(\.value) ?? []
            #expect(fields.contains(GatewayExchange.hidden) && !fields.contains { $0.contains("abc") })
            #expect(fields.contains("/3/device/" + PushTokenHash.text("tok".utf8)))
        }
        tracer.obey(order(1).ending, of: gateway)
        #expect(gateway.tracers.withLock(\.self) == [true, true, true])
        tracer.obey(order(2).ending, of: gateway)
        #expect(gateway.tracers.withLock(\.self) == [true, true, true, false])
        // No trace is running that could show this.
        tracer.saw(exchange(), for: [1, 2])
        tracer.obey(order(3), of: gateway)
        #expect(try lines(pipe) { !$0.isEmpty }.map(\.trace) == [3])
    }

    @Test("A protocol that cannot be shown is reported")
    func protocols() throws {
        let pipe = Pipe()
        let tracer = ChildTracer(output: ChildOutput(pipe.fileHandleForWriting))
        tracer.obey(order(1), of: LookedAt(canBeShown: false))
        #expect(try lines(pipe) { !$0.isEmpty }.first?.notice == "it is binary")
    }

    @Test("Samples that a supervisor does not read are dropped and counted, and the sending does not wait")
    func drops() throws {
        // As in the program: a write after this test has read enough must not end the process.
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        let tracer = ChildTracer(output: ChildOutput(pipe.fileHandleForWriting))
        tracer.obey(order(1), of: LookedAt())
        // A pipe holds 64 KiB, about 150 of these lines; nothing reads it yet.
        let count = 2_000
        let copy = exchange()
        for _ in 0..<count { tracer.saw(copy, for: [1]) }
        // Each sample was either written or counted.
        var lost = 0
        let reports = try lines(pipe) { reports in
            lost = Int(reports.last?.counts.lost ?? 0)
            return lost > 0 && reports.count { $0.exchange != nil } + lost >= count
        }
        #expect(lost > 0 && reports.count { $0.exchange != nil } + lost == count)
    }
}
