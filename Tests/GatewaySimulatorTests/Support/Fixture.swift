import Foundation
import Testing

@testable import GatewaySimulator

/// A running simulator with a folder of its own, and the requests that it accepts.
struct Fixture {
    static let token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
    static let topic = "com.example.app"

    let simulator: GatewaySimulator
    let folder: String
    let jwt: String

    var curl: Curl { Curl(caFile: simulator.caFile) }

    /// Runs a body with a simulator that is stopped and removed afterwards.
    static func run(
        _ options: GatewaySimulatorOptions = .with { _ in },
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let folder = options.stateFolder
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let simulator = try await GatewaySimulator.start(options)
        do {
            let jwt = try await Signer.providerToken(simulator.credentials)
            try await body(Fixture(simulator: simulator, folder: folder, jwt: jwt))
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    /// A push over curl; a nil value leaves a header out, or replaces the usual one.
    func push(
        _ changes: [String: String?] = [:],
        path: String = "/3/device/\(token)",
        method: String = "POST",
        body: String = #"{"aps":{"alert":"hello"}}"#,
        extra: [String] = []
    ) throws -> Curl.Answer {
        var headers: [String: String?] = [
            "authorization": "bearer \(jwt)", "apns-topic": Self.topic, "apns-push-type": "alert",
            "apns-priority": "10",
        ]
        for (name, value) in changes { headers[name] = value }
        var arguments = ["--http2", "-X", method, "https://localhost:\(simulator.apnsPort)\(path)"]
        for (name, value) in headers {
            if let value { arguments += ["-H", "\(name): \(value)"] }
        }
        return try curl.run(arguments + extra, body: Array(body.utf8))
    }

    /// An access token from the token endpoint.
    func accessToken() async throws -> String {
        let answer = try curl.run(
            [
                "-X", "POST", simulator.credentials.tokenURI, "--data-urlencode",
                "grant_type=\(TokenEndpoint.grantType)", "--data-urlencode",
                "assertion=\(try await Signer.grant(simulator.credentials))",
            ]
        )
        let json = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return try #require(json?["access_token"] as? String)
    }

    /// A message for FCM over curl.
    func send(
        _ body: String,
        bearer: String?,
        path: String? = nil,
        method: String = "POST"
    ) throws -> Curl.Answer {
        let path = path ?? "/v1/projects/\(simulator.credentials.projectID)/messages:send"
        var arguments = ["--http2", "-X", method, "https://localhost:\(simulator.fcmPort)\(path)"]
        arguments += ["-H", "content-type: application/json"]
        if let bearer { arguments += ["-H", "authorization: Bearer \(bearer)"] }
        return try curl.run(arguments, body: Array(body.utf8))
    }

    /// A request to the control port.
    func control(_ method: String, _ path: String, _ body: String? = nil) throws -> Curl.Answer {
        try curl.run(
            ["-X", method, "http://127.0.0.1:\(simulator.controlPort)\(path)"],
            body: body.map { Array($0.utf8) }
        )
    }
}

extension GatewaySimulatorOptions {
    /// Options with a state folder of their own, changed by a body.
    static func with(_ configure: (inout GatewaySimulatorOptions) -> Void) -> GatewaySimulatorOptions {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID().uuidString)").path
        var options = GatewaySimulatorOptions(stateFolder: folder)
        configure(&options)
        return options
    }
}
