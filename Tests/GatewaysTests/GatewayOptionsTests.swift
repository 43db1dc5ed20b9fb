import Foundation
import Gateways
import HTTP2
import PushCore
import Testing

@Suite("The gateway options of an external account and the settings")
struct GatewayOptionsTests {
    private func options(
        _ connector: Connector = .iosHTTP2,
        _ json: String = "{}",
        host: String = "gateway.example.com",
        environment: [String: String] = [:],
        change: (inout Settings) -> Void = { _ in }
    ) throws -> GatewayOptions {
        var settings = Settings()
        change(&settings)
        return try GatewayOptions(
            settings,
            environment: environment,
            connector: connector,
            account: "main",
            host: host,
            port: 2_195,
            options: json
        )
    }

    @Test("The settings supply what the account leaves open")
    func settings() throws {
        let options = try options(.iosBinary) {
            $0.mta.child.requestTimeoutSec = 7
            $0.mta.child.connectTimeoutSec = 3
            $0.nmac.relay.trustedCertsChain = "/etc/ca.pem"
            $0.nmac.binary.dispatchWindow = 11
            $0.nmac.binary.presumedAcceptedMs = 12
        }
        #expect(options.connections.requestTimeoutMilliseconds == 7_000)
        #expect(options.connections.connectTimeoutMilliseconds == 3_000)
        #expect(options.trustRootsFile == "/etc/ca.pem")
        #expect(options.binary.dispatchWindow == 11 && options.binary.presumedAcceptedMs == 12)
        #expect(options.address == GatewayAddress(host: "gateway.example.com", port: 2_195))
        #expect(options.feedbackAddress == GatewayAddress(host: "feedback.example.com", port: 2_196))
        #expect(options.proxy == nil)
        #expect(try self.options().trustRootsFile == nil, "the system's")
    }

    @Test("The account takes precedence")
    func account() throws {
        let json = #"{"ca_file":"/own.pem","connections":"5","feedback_host":"other.example.com","feedback_port":9}"#
        let options = try options(.iosBinary, json) { $0.nmac.relay.trustedCertsChain = "/etc/ca.pem" }
        #expect(options.trustRootsFile == "/own.pem")
        #expect(options.connections.count == 5)
        #expect(options.feedbackAddress == GatewayAddress(host: "other.example.com", port: 9))
    }

    @Test("Each connector has its own number of connections, at least one, and android-v1 always has one")
    func connections() throws {
        func count(_ connector: Connector, _ json: String = "{}") throws -> Int {
            try options(connector, json) {
                $0.mta.child.maxAPNsConnectPerChild = 2
                $0.mta.child.maxGCMConnectPerChild = 3
            }.connections.count
        }
        #expect(try count(.iosHTTP2) == 2)
        #expect(try count(.iosBinary) == 1)
        #expect(try count(.androidV2) == 3)
        #expect(try count(.androidV1) == 1)
        #expect(try count(.androidV1, #"{"connections":4}"#) == 1)
        #expect(try count(.androidV2, #"{"connections":4}"#) == 4)
        #expect(try count(.androidV2, #"{"connections":0}"#) == 1)
    }

    @Test("Options that are not an object are the account's fault, an invalid proxy is this host's")
    func faults() throws {
        let account = try #require(throws: GatewaySetupFailure.self) { try options(.iosHTTP2, "[]") }
        #expect(!account.isHostsFault && account.description.contains("main"))
        let proxy = try #require(throws: GatewaySetupFailure.self) {
            try options(environment: ["https_proxy": "ftp://x"]) {
                $0.nmac.useHTTPProxy = true
                $0.nmac.proxyHTTP.address = "environment"
            }
        }
        #expect(proxy.isHostsFault)
    }

    @Test(
        "The error for a missing or unusable file of authorities names the file, what refers to it, and the remedy"
    )
    func trustRoots() throws {
        let json = #"{"ca_file":"/nowhere/own.pem"}"#
        let missing = try #require(throws: GatewaySetupFailure.self) { try options(.iosHTTP2, json).checkTrustRoots() }
        let host = ProcessInfo.processInfo.hostName
        for words in ["/nowhere/own.pem", "external account main", "does not exist on host \(host)"] {
            #expect(missing.problem.contains(words), "\(missing)")
        }
        #expect(missing.isHostsFault && missing.remedy.contains("pushmta account set main --ca-file"), "\(missing)")
        let unreadable = try #require(throws: GatewaySetupFailure.self) {
            try options { $0.nmac.relay.trustedCertsChain = "/etc" }.checkTrustRoots()
        }
        #expect(unreadable.problem.contains("is not a regular file on host \(host)"), "\(unreadable)")
        #expect(unreadable.description.contains("nmac.relay.trustedCertsChain"), "\(unreadable)")
        let empty = try #require(throws: GatewaySetupFailure.self) {
            try options(.iosHTTP2, #"{"ca_file":"/etc/hostname"}"#).checkTrustRoots()
        }
        #expect(empty.problem.contains("holds no certificate"), "\(empty)")
        try options().checkTrustRoots()
    }
}
