import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import GatewaySimulator

/// The binary gateway over TLS, byte by byte.
@Suite(.timeLimit(.minutes(2))) struct BinaryGatewayTests {
    /// What a connection heard until it ended, or until enough came.
    private func talk(
        _ fixture: Fixture,
        port: Int? = nil,
        certificate: String? = nil,
        expecting count: Int = 6,
        _ bytes: [UInt8]
    ) async throws -> [UInt8] {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(fixture.simulator.caFile)
        tls.maximumTLSVersion = .tlsv12
        if let file = certificate ?? Optional(fixture.simulator.credentials.apnsCertificateFile), !file.isEmpty {
            let bundle = try NIOSSLPKCS12Bundle(
                buffer: Array(FileManager.default.contents(atPath: file) ?? Data()),
                passphrase: Array(fixture.simulator.credentials.apnsCertificatePassphrase.utf8)
            )
            tls.certificateChain = bundle.certificateChain.map { .certificate($0) }
            tls.privateKey = .privateKey(bundle.privateKey)
        }
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port ?? fixture.simulator.apnsBinaryPort) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            // A feedback service with nothing to tell ends the connection at once, and then nothing can be written, not even nothing.
            if !bytes.isEmpty { try await outbound.write(ByteBuffer(bytes: bytes)) }
            var heard: [UInt8] = []
            for try await buffer in inbound {
                heard += Array(buffer.readableBytesView)
                if heard.count >= count { break }
            }
            return heard
        }
    }

    private func item(_ kind: UInt8, _ data: [UInt8]) -> [UInt8] {
        [kind, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    private func frame(
        _ identifier: UInt8,
        token: [UInt8] = [UInt8](repeating: 3, count: 32),
        id: String = UUID().uuidString
    )
        -> [UInt8]
    {
        let body =
            item(1, token) + item(2, Array("{\"aps\":{},\"_mId\":\"\(id.lowercased())\"}".utf8))
            + item(3, [0, 0, 0, identifier])
        return [2, 0, 0, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
    }

    @Test func anErrorPacketAndWhatCameBehindItIsThrownAway() async throws {
        try await Fixture.run { (fixture) async throws in
            let ids = (0..<4).map { _ in UUID().uuidString }
            let bytes =
                frame(1, id: ids[0]) + frame(2, id: ids[1]) + frame(3, token: [], id: ids[2]) + frame(4, id: ids[3])
            #expect(try await talk(fixture, bytes) == [8, 2, 0, 0, 0, 3])
            let times = ids.map { fixture.simulator.occurrences(ofID: $0) }
            #expect(times == [1, 1, 0, 0])
            let counters = fixture.simulator.counters().apnsBinary
            #expect(counters.accepted == 2 && counters.rejected == ["MissingDeviceToken": 1] && counters.refused == 1)
        }
    }

    @Test func whatCannotBeReadIsAProtocolError() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try await talk(fixture, [9, 9, 9]) == [8, 128, 0, 0, 0, 0])
            #expect(
                try await talk(fixture, frame(1) + [2, 0, 0, 0, 8] + item(3, [0, 0, 0, 7]) + [9]) == [
                    8, 128, 0, 0, 0, 7,
                ]
            )
        }
    }

    @Test func theOldestFormatIsEndedWithoutAWord() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try await talk(fixture, [0, 0, 0, 0, 2] + Array("{}".utf8)) == [])
            #expect(fixture.simulator.counters().apnsBinary.rejected == ["MissingDeviceToken": 1])
        }
    }

    @Test func everySoManiethIsRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 3, status: 255)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            #expect(try await talk(fixture, (1...5).flatMap { frame($0) }) == [8, 255, 0, 0, 0, 3])
            #expect(try await talk(fixture, (1...5).flatMap { frame($0) }) == [8, 255, 0, 0, 0, 3])
            #expect(fixture.simulator.counters().apnsBinary.accepted == 4)
        }
    }

    @Test func anErrorPacketWithTheCloseOnItsHeels() async throws {
        try await Fixture.run { (fixture) async throws in
            let plan = #"{"gateway":"apns-binary","error_packets":{"every":2,"status":8},"closes_at_once":true}"#
            #expect(try fixture.control("POST", "/faults", plan).status == 200)
            // The client ends as soon as it has heard the packet; the simulator had dropped the connection by then.
            #expect(try await talk(fixture, (1...5).flatMap { frame($0) }) == [8, 8, 0, 0, 0, 2])
            #expect(fixture.simulator.counters().apnsBinary.resets == 1)
        }
    }

    @Test func aShutdownNamesTheLastOneTaken() async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 2, unprocessed: 1)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            #expect(try await talk(fixture, (1...5).flatMap { frame($0) }) == [8, 10, 0, 0, 0, 2])
            // With nothing more to come it does not wait for ever.
            #expect(try await talk(fixture, (1...2).flatMap { frame($0) }) == [8, 10, 0, 0, 0, 2])
            #expect(fixture.simulator.counters().apnsBinary.goAways == 2)
        }
    }

    @Test func aCertificateIsNeeded() async throws {
        try await Fixture.run { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            for file in ["", credentials.apnsOtherCertificateFile, credentials.apnsExpiredCertificateFile] {
                await #expect(throws: (any Error).self) { _ = try await talk(fixture, certificate: file, frame(1)) }
            }
            fixture.simulator.revokeKey(true, for: .apnsBinary)
            await #expect(throws: (any Error).self) { _ = try await talk(fixture, frame(1)) }
            #expect(fixture.simulator.counters().apnsBinary.accepted == 0)
        }
        try await Fixture.run(.with { $0.isSandbox = true }) { (fixture) async throws in
            // The sandbox takes the sandbox's and those for both.
            let both = fixture.simulator.credentials.apnsUniversalCertificateFile
            let broken = frame(1) + [7]
            #expect(try await talk(fixture, certificate: both, broken) == [8, 128, 0, 0, 0, 0])
            #expect(try await talk(fixture, broken) == [8, 128, 0, 0, 0, 0])
        }
    }

    @Test func feedbackIsToldOnceAndControlled() async throws {
        try await Fixture.run { (fixture) async throws in
            let port = fixture.simulator.apnsFeedbackPort
            let body = #"{"tokens":["0102"],"topic":"com.example.app","since":9000}"#
            #expect(try fixture.control("POST", "/feedback", body).status == 200)
            #expect(try fixture.control("GET", "/feedback").body.contains("1"))
            #expect(try fixture.control("POST", "/feedback", #"{"tokens":["x"],"topic":"a"}"#).status == 400)
            #expect(try await talk(fixture, port: port, expecting: .max, []) == [0, 0, 0, 9, 0, 2, 1, 2])
            #expect(try await talk(fixture, port: port, expecting: .max, []) == [])
            // A push to a device without the app is taken, and told of afterwards.
            fixture.simulator.setDevice(String(repeating: "03", count: 32), to: .unregistered(sinceMilliseconds: 5_000))
            #expect(try await talk(fixture, frame(1) + [7]) == [8, 128, 0, 0, 0, 0])
            let tuple = try await talk(fixture, port: port, expecting: .max, [])
            #expect(tuple == [0, 0, 0, 5, 0, 32] + [UInt8](repeating: 3, count: 32))
            let plan = #"{"gateway":"apns-binary","error_packets":{"every":1,"status":7}}"#
            #expect(try fixture.control("POST", "/faults", plan).status == 200)
            #expect(try await talk(fixture, frame(1)) == [8, 7, 0, 0, 0, 1])
        }
    }

    @Test func theRecordFileNamesTheGateway() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Fixture.run(.with { $0.recordFile = file }) { (fixture) async throws in
            let id = "a1b2c3d4-0000-4000-8000-0123456789ac"
            _ = try await talk(fixture, frame(1, id: id) + frame(2, token: [], id: id))
            let lines = try RecordLine.read(file)
            #expect(lines.map(\.id) == [id, id] && lines.map(\.gateway) == ["apns-binary", "apns-binary"])
            #expect(lines.map(\.status) == [200, 2] && lines.map(\.reason) == ["", "MissingDeviceToken"])
            #expect(lines.map(\.answered) == [false, true], "nothing is said of what is taken")
        }
    }
}
