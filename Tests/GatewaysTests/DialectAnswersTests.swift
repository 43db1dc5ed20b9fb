import GatewayTestSupport
import HTTP2
import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import Gateways

/// A gateway over HTTP/2 has the answers of its dialect, although another gateway takes the same payloads.
@Suite struct DialectAnswersTests {
    private static let own = AnswerGateway(rawValue: "own")

    /// The dialect of a gateway with rows of its own.
    private final class OwnDialect: GatewayDialect {
        let name = "own"
        let answers = GatewayAnswers(
            DialectAnswersTests.own,
            [
                AnswerRow(
                    DialectAnswersTests.own,
                    0,
                    "",
                    .unprocessed,
                    source: .noAnswer,
                    failure: .softUnreachable,
                    "the message was not written: it is sent again"
                )
            ]
        )
        let bindsTokenToConnection = false

        func start(onChange: @escaping (AccessTokenRefresh.Change) -> Void) {}

        func retryNow() {}

        func stop() {}

        func authorization() -> Authorization { .waiting }

        func flights(
            _ batch: GatewayRequestBatch,
            rows: [Int32]?,
            token: AuthorizationToken,
            tag: () -> Int64
        ) -> [Flight] { [] }

        func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome? { nil }

        func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Decision {
            let meaning = answers.response(response.status, "")
            return Decision(outcome: Outcome(index: row, outcomeClass: meaning.outcomeClass), row: meaning)
        }

        func tokenRejected(generation: Int, _ row: inout AnswerRow) -> Bool { false }

        func goAway(debugData: [UInt8]) -> (reason: String, row: AnswerRow) { ("", answers.goAway(reason: "")) }
    }

    @Test(arguments: PayloadFormat.allCases)
    func answersAreTheDialects(_ format: PayloadFormat) {
        let engine = GatewayEngine(
            format,
            GatewayLimits(maxPayloadBytes: 4_096),
            address: GatewayAddress(host: "gateway.example"),
            configuration: HTTP2ClientConfiguration(
                host: "gateway.example",
                port: 443,
                connections: ConnectionOptions(requestTimeoutMilliseconds: 1_000, connectTimeoutMilliseconds: 1_000),
                initialMaxConcurrentStreams: 1
            ),
            dialect: OwnDialect(),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: Collector()
        )
        let gateway: any Gateway = engine
        #expect(gateway.answers.gateway == Self.own)
        #expect(gateway.answers.noAnswer(reason: "GOAWAY", isWritten: false).failure == .softUnreachable)
    }
}
