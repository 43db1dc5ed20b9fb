import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import LegacyGateways

/// Connections to the simulator's binary gateway.
extension Fixture {
    /// The sample certificate for the environment that the simulator plays.
    var apnsCertificate: GatewayCredential { certificate(simulator.credentials.apnsCertificateFile) }

    /// The same, opened.
    var clientCertificate: ClientCertificate {
        get throws {
            try ClientCertificate(
                file: Array(
                    FileManager.default.contents(atPath: simulator.credentials.apnsCertificateFile) ?? Data()
                ),
                passphrase: simulator.credentials.apnsCertificatePassphrase
            )
        }
    }

    func certificate(_ file: String) -> GatewayCredential {
        .apnsCertificate(
            pkcs12: Array(FileManager.default.contents(atPath: file) ?? Data()),
            passphrase: simulator.credentials.apnsCertificatePassphrase
        )
    }

    /// A started gateway. Silence is short to save test time, but longer than a busy machine delays an error packet.
    func binaryGateway(
        port: Int? = nil,
        connections: Int = 1,
        presumedAcceptedMilliseconds: Int = 1_500,
        sendAhead: Int = 4_000,
        credential: GatewayCredential? = nil,
        proxy: GatewayProxy? = nil,
        collector: Collector? = nil
    ) async throws -> any Gateway {
        var options = try options(
            .iosBinary,
            port: port ?? simulator.apnsBinaryPort,
            connections: connections,
            proxy: proxy
        )
        options.binary.presumedAcceptedMs = presumedAcceptedMilliseconds
        options.binary.dispatchWindow = sendAhead
        let gateway = try factory.make(
            connector: .iosBinary,
            credential: credential ?? apnsCertificate,
            topic: Self.topic,
            options: options,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: collector ?? self.collector
        )
        try await gateway.start()
        return gateway
    }

    /// Messages whose payload carries their id.
    func binaryBatch(
        id: Int64 = 1,
        count: Int,
        tokens: [String]? = nil,
        attributes: MessageAttributes = MessageAttributes(priority: 10, expirationSeconds: 3_600)
    ) -> GatewayRequestBatch {
        batch(id: id, .iosHTTP2, count: count, tokens: tokens, attributes: attributes)
    }

    /// How often the simulator has accepted each message of a batch.
    func acceptances(_ batch: GatewayRequestBatch) -> [Int] {
        batch.messageIDs.map { simulator.occurrences(of: $0) }
    }
}

extension Collector {
    /// Submits a batch and, like a child, submits unprocessed and ambiguous messages again at once, until all messages
    /// have another outcome.
    ///
    /// - Returns: the final outcome of each row, and how many rows were ever ambiguous.
    func deliver(
        _ batch: GatewayRequestBatch,
        through gateway: any Gateway,
        ambiguousAreSentAgain: Bool = true
    ) async -> (outcomes: [Outcome], doubts: Int) {
        var final = [Outcome?](repeating: nil, count: batch.count)
        var doubts = 0
        // The rows of the batch that each round has sent.
        var rounds = [batch.id: Array(Int32(0)..<Int32(batch.count))]
        var open = batch.count
        var seen = total
        gateway.submit(batch)
        while open > 0 {
            let arrivals = await arrivals(after: seen)
            seen += arrivals.count
            var again: [Int32] = []
            for (round, outcome) in arrivals {
                guard let row = rounds[round]?[Int(outcome.index)] else { continue }
                let isAmbiguous = outcome.outcomeClass == .ambiguous
                if isAmbiguous { doubts += 1 }
                if outcome.outcomeClass == .unprocessed || isAmbiguous && ambiguousAreSentAgain {
                    again.append(row)
                } else {
                    final[Int(row)] = outcome
                    open -= 1
                }
            }
            guard !again.isEmpty else { continue }
            let round = batch.id + Int64(rounds.count) * 1_000_000
            rounds[round] = again
            gateway.submit(Self.subset(batch, again, id: round))
        }
        return (final.compactMap { $0 }, doubts)
    }

    private static func subset(_ batch: GatewayRequestBatch, _ rows: [Int32], id: Int64) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        for row in rows {
            tokens.append(batch.tokens[Int(row)])
            bodies.append(batch.bodies[Int(row)])
        }
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: rows.map { batch.messageIDs[Int($0)] },
            bodies: bodies,
            attributes: batch.attributes
        )
    }
}
