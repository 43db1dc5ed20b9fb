import Foundation
import Testing

@testable import GatewaySimulator

/// What the simulator leaves on disk.
struct StateFolderTests {
    @Test func privateKeysAreForTheirOwnerOnly() async throws {
        try await Fixture.run { (fixture) async throws in
            for name in ["ca-key.pem", "server-key.pem", "apns-key.p8", "service-account.json"] {
                #expect(try permissions(fixture.folder + "/" + name) == 0o600)
            }
            #expect(try permissions(fixture.folder) == 0o700)
        }
    }

    @Test func portsAndCredentialsAreWritten() async throws {
        try await Fixture.run { (fixture) async throws in
            let simulator = fixture.simulator
            let ports = try JSONDecoder().decode([String: Int].self, from: try contents(fixture.folder + "/ports.json"))
            #expect(
                ports == [
                    "apns": simulator.apnsPort, "fcm": simulator.fcmPort, "oauth": simulator.oauthPort,
                    "control": simulator.controlPort, "apns-binary": simulator.apnsBinaryPort,
                    "apns-feedback": simulator.apnsFeedbackPort, "fcm-legacy": simulator.fcmLegacyPort,
                ]
            )
            let account = try JSONSerialization.jsonObject(with: try contents(fixture.folder + "/service-account.json"))
            let fields = try #require(account as? [String: String])
            #expect(fields["type"] == "service_account")
            #expect(fields["token_uri"] == "https://127.0.0.1:\(simulator.oauthPort)/token")
            #expect(fields["client_email"] == simulator.credentials.clientEmail)
            #expect(simulator.credentials.apnsKeyID.count == 10)
            #expect(simulator.credentials.apnsTeamID.count == 10)
        }
    }

    @Test func aSecondStartUsesWhatIsThere() async throws {
        try await Fixture.run { (fixture) async throws in
            let first = fixture.simulator
            let ca = try contents(first.caFile)
            let again = try await GatewaySimulator.start(GatewaySimulatorOptions(stateFolder: fixture.folder))
            #expect(try contents(again.caFile) == ca)
            #expect(again.credentials.apnsKeyPEM == first.credentials.apnsKeyPEM)
            #expect(again.credentials.apnsKeyID == first.credentials.apnsKeyID)
            #expect(again.credentials.serviceAccountKeyPEM == first.credentials.serviceAccountKeyPEM)
            #expect(again.credentials.tokenURI == "https://127.0.0.1:\(again.oauthPort)/token")
            await again.stop()
        }
    }

    @Test func theCertificateCoversNamesAndAddresses() async throws {
        try await Fixture.run(.with { $0.certificateNames = ["gateway.test"] }) { (fixture) async throws in
            let port = fixture.simulator.apnsPort
            for name in ["localhost", "127.0.0.1", "gateway.test"] {
                let answer = try fixture.curl.run(
                    ["--http2", "--resolve", "gateway.test:\(port):127.0.0.1", "https://\(name):\(port)/3/device/ab"]
                )
                #expect(answer.status == 405)
            }
        }
    }

    @Test func numericAddressesBecomeBytes() {
        #expect(IPAddressBytes.parse("127.0.0.1") == [127, 0, 0, 1])
        #expect(IPAddressBytes.parse("::1") == [UInt8](repeating: 0, count: 15) + [1])
        #expect(IPAddressBytes.parse("::") == [UInt8](repeating: 0, count: 16))
        #expect(IPAddressBytes.parse("fe80::1:2")?.prefix(2) == [0xFE, 0x80])
        #expect(IPAddressBytes.parse("1:2:3:4:5:6:7:8")?.suffix(2) == [0, 8])
        for name in ["localhost", "1.2.3", "1.2.3.256", "1:2", "1:2:3:4:5:6:7:8:9", "g::1"] {
            #expect(IPAddressBytes.parse(name) == nil)
        }
    }

    @Test func damagedCredentialsAreNamed() async throws {
        try await Fixture.run { (fixture) async throws in
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: fixture.folder + "/apns-key.p8"))
            await #expect {
                try await GatewaySimulator.start(GatewaySimulatorOptions(stateFolder: fixture.folder))
            } throws: { error in
                let text = "\(error)"
                return text.contains("apns-key.p8") && text.contains("delete it")
            }
        }
    }

    @Test func aPortInUseIsNamed() async throws {
        try await Fixture.run { (fixture) async throws in
            var options = GatewaySimulatorOptions(stateFolder: fixture.folder)
            options.apnsPort = fixture.simulator.apnsPort
            await #expect { try await GatewaySimulator.start(options) } throws: { error in
                "\(error)".contains("port \(options.apnsPort)")
            }
        }
    }

    private func contents(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func permissions(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
