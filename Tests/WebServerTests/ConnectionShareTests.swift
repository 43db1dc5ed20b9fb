import HTTPConnections
import Logging
import PushCore
import Testing

@testable import WebServer

@Suite struct ConnectionShareTests {
    @Test func filesAreLeftForEverythingElse() throws {
        let roomy = try ConnectionShare(setting: 10_000, limit: 1 << 20, ports: 2, threads: 8)
        #expect(roomy.connections == 10_000 && roomy.wanted == nil)
        let narrow = try ConnectionShare(setting: 10_000, limit: 1_024, ports: 1, threads: 6)
        #expect(narrow.connections == 900 && narrow.wanted == 10_124)
        // Each port has its own limit.
        let both = try ConnectionShare(setting: 10_000, limit: 1_024, ports: 2, threads: 6)
        #expect(both.connections == 450 && both.wanted == 20_124)
        #expect(try ConnectionShare(setting: 450, limit: 1_024, ports: 2, threads: 6).wanted == nil)
        #expect(try ConnectionShare(setting: 1, limit: 1_024, ports: 1, threads: 1).connections == 1)
        #expect(throws: WebServerError.self) { try ConnectionShare(setting: 10_000, limit: 64, ports: 1, threads: 1) }
        #expect(throws: WebServerError.self) {
            try ConnectionShare(setting: 10_000, limit: 256, ports: 2, threads: 32)
        }
    }

    /// The socket accepts several connections at once. Without reserved connections, even the last one is served
    /// normally.
    @Test func whereNoneIsKeptNobodyIsOnProbation() throws {
        func port(kept: Int) -> PortAdmission {
            let logger = Logger(label: "web") { _ in SwiftLogNoOpLogHandler() }
            let clients = ClientAdmission(
                limit: 10,
                trust: ProxyTrust(trusted: []),
                counters: WebCounters(),
                logger: logger
            )
            return PortAdmission(clients: clients, limit: 2, kept: kept)
        }
        let plain = port(kept: 0)
        let tickets = (0..<4).map { _ in plain.open(nil) }
        #expect(tickets.allSatisfy { $0?.isOrdinary() == true })
        let shared = port(kept: 1)
        #expect(shared.open(nil)?.isOrdinary() == true)
        #expect(shared.open(nil)?.isOrdinary() == false)
    }

    @Test func theLimitIsRaisedAndNeverLowered() {
        let before = DescriptorLimit.current
        DescriptorLimit.raise()
        #expect(DescriptorLimit.current >= before)
    }
}
