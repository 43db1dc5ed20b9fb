import Foundation
import PushCore

/// The control port, which returns counters and records, and accepts faults and devices.
struct ControlEndpoint: Sendable {
    private struct DeviceChange: Decodable {
        var tokens: [String]
        var state: String?
        var since: Int64?
        var by: String?
        var answer: ScriptedAnswer.Description?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case tokens, state, since, by, answer
        }

        init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: CodingKeys.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: CodingKeys.self)
            tokens = try values.decode([String].self, forKey: .tokens)
            state = try values.decodeIfPresent(String.self, forKey: .state)
            since = try values.decodeIfPresent(Int64.self, forKey: .since)
            by = try values.decodeIfPresent(String.self, forKey: .by)
            answer = try values.decodeIfPresent(ScriptedAnswer.Description.self, forKey: .answer)
        }
    }

    private struct CredentialChange: Decodable {
        var gateway: SimulatedGateway
        var revoked: Bool
    }

    private struct EnvironmentChange: Decodable {
        enum Place: String, Decodable {
            case own, other
        }

        var devices: Place
    }

    private struct FeedbackChange: Decodable {
        var tokens: [String]
        var topic: String
        var since: Int64?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case tokens, topic, since
        }

        init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: CodingKeys.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: CodingKeys.self)
            tokens = try values.decode([String].self, forKey: .tokens)
            topic = try values.decode(String.self, forKey: .topic)
            since = try values.decodeIfPresent(Int64.self, forKey: .since)
        }
    }

    private struct TokenEndpointChange: Decodable {
        var answer: ScriptedAnswer.Description?
        var closed: Bool?
        var delayMilliseconds: Int?

        enum CodingKeys: String, CodingKey {
            case answer, closed
            case delayMilliseconds = "delay_ms"
        }
    }

    private struct Target: Decodable {
        var gateway: SimulatedGateway?
    }

    /// The default maximum number of records in an answer.
    private static let usualLimit = 1000

    let core: SimulatorCore
    let feedback: FeedbackBook
    let fleet: DeviceFleet

    func answer(_ request: HTTP1Request) -> HTTP1Answer {
        do {
            switch (request.method, request.path) {
            case ("GET", "/counters"): return HTTP1Answer(core.counters)
            case ("GET", "/messages"): return try messages(request.query)
            case ("GET", let path) where path.hasPrefix("/messages/"):
                let id = String(path.dropFirst("/messages/".count))
                let records = SimulatedGateway.allCases.compactMap { core.recorder($0).record(of: MessageKey(id: id)) }
                return records.isEmpty ? .error(404, "message \(id) has not arrived") : HTTP1Answer(records)
            case ("GET", "/faults"):
                let plans = SimulatedGateway.allCases.map { ($0.rawValue, core.conditions($0).current.plan) }
                return HTTP1Answer(Dictionary(uniqueKeysWithValues: plans))
            case ("POST", "/faults"): return try setFaults(request.body)
            case ("POST", "/devices"): return try setDevices(request.body)
            case ("GET", "/feedback"): return HTTP1Answer(["tokens": feedback.count])
            case ("POST", "/feedback"): return try addFeedback(request.body)
            case ("GET", "/fleet"): return HTTP1Answer(fleet.counters)
            case ("GET", "/fleet/data"): return HTTP1Answer(fleet.lastData)
            case ("POST", "/fleet"): return try setFleet(request.body)
            case ("POST", "/fleet/devices"): return try registerDevices(request.body)
            case ("POST", "/oauth"): return try setTokenAnswer(request.body)
            case ("POST", "/credentials"): return try setCredentials(request.body)
            case ("POST", "/environment"): return try setEnvironment(request.body)
            case ("POST", "/disconnect"): return try disconnect(request.body)
            case ("POST", "/reset"):
                core.reset()
                return HTTP1Answer(core.counters)
            default: return .error(404, "the control port does not know \(request.method) \(request.path)")
            }
        } catch let error as SimulatorError {
            return .error(400, error.description)
        } catch let error as DecodingError {
            return .error(400, FaultPlan.explain(error))
        } catch {
            return .error(400, "\(error)")
        }
    }

    private func messages(_ query: [String: String]) throws -> HTTP1Answer {
        var gateways = SimulatedGateway.allCases
        if let name = query["gateway"] {
            guard let gateway = SimulatedGateway(rawValue: name) else {
                let known = SimulatedGateway.allCases.map(\.rawValue).joined(separator: ", ")
                throw SimulatorError(.badRequest, "\"\(name)\" is not a gateway; the gateways are: \(known)")
            }
            gateways = [gateway]
        }
        let limit = query["limit"].flatMap { Int($0) } ?? Self.usualLimit
        let onlyDuplicates = query["duplicates"] == "1"
        let records = gateways.flatMap { gateway in
            core.recorder(gateway).records(limit: max(0, limit)) { !onlyDuplicates || $0.accepted > 1 }
        }
        return HTTP1Answer(records)
    }

    private func setFaults(_ body: [UInt8]) throws -> HTTP1Answer {
        let target = try JSONBody.decode(Target.self, from: body)
        let plan = try FaultPlan(json: body)
        try core.setFaults(plan, for: target.gateway)
        return HTTP1Answer(plan)
    }

    private func setDevices(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(DeviceChange.self, from: body)
        var state = change.answer.map { DeviceState.scripted($0.answer) }
        if let name = change.state {
            let since = change.since ?? Int64(Date().timeIntervalSince1970 * 1000)
            guard let known = DeviceState(name: name, sinceMilliseconds: since, by: change.by) else {
                throw SimulatorError(
                    .badRequest,
                    "\"\(name)\" is not a device state; the states are: \(DeviceState.names.joined(separator: ", "))"
                )
            }
            state = known
        }
        core.setDevices(change.tokens, to: state)
        return HTTP1Answer(["devices": change.tokens.count])
    }

    /// Without an answer, the endpoint issues tokens again. With `"closed":true` its port is closed; `delay_ms` delays
    /// its answers.
    private func setTokenAnswer(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(TokenEndpointChange.self, from: body)
        let script = change.answer?.answer
        let delay = change.delayMilliseconds ?? 0
        guard (0...60_000).contains(delay) else {
            throw SimulatorError(.badRequest, "delay_ms must be from 0 to 60000, not \(delay)")
        }
        core.setTokenEndpoint(script, isClosed: change.closed ?? false, delayMilliseconds: delay)
        return HTTP1Answer(["scripted": script != nil, "closed": change.closed ?? false])
    }

    private func addFeedback(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(FeedbackChange.self, from: body)
        let since = change.since ?? Int64(Date().timeIntervalSince1970 * 1000)
        guard feedback.add(change.tokens, sinceMilliseconds: since, topic: change.topic) else {
            throw SimulatorError(.badRequest, "a token must be an even number of hexadecimal digits, at most 200")
        }
        return HTTP1Answer(["tokens": feedback.count])
    }

    private func setEnvironment(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(EnvironmentChange.self, from: body)
        core.setDevicesOfOtherEnvironment(change.devices == .other)
        return HTTP1Answer(["devices": change.devices.rawValue])
    }

    private func disconnect(_ body: [UInt8]) throws -> HTTP1Answer {
        core.dropConnections(try JSONBody.decode(Target.self, from: body).gateway)
        return HTTP1Answer(core.counters)
    }

    private func setCredentials(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(CredentialChange.self, from: body)
        core.conditions(change.gateway).change { $0.isRevoked = change.revoked }
        return HTTP1Answer(["revoked": change.revoked])
    }
}

extension ControlEndpoint {
    private struct ServerChange: Decodable {
        var host: String
        var port: Int
        var clickEvery: Int?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case host, port
            case clickEvery = "click_every"
        }

        init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: CodingKeys.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: CodingKeys.self)
            host = try values.decode(String.self, forKey: .host)
            port = try values.decode(Int.self, forKey: .port)
            clickEvery = try values.decodeIfPresent(Int.self, forKey: .clickEvery)
        }
    }

    private struct Registration: Decodable {
        var integrationKey: String
        var platform: Platform
        var count: Int
        var first: Int?
        var seed: UInt64?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case platform, count, first, seed
            case integrationKey = "integration_key"
        }

        init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: CodingKeys.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: CodingKeys.self)
            integrationKey = try values.decode(String.self, forKey: .integrationKey)
            let name = try values.decode(String.self, forKey: .platform)
            guard let platform = Platform(rawValue: name) else {
                throw SimulatorError(.badRequest, "\"\(name)\" is not a platform; the platforms are: ios, android")
            }
            self.platform = platform
            count = try values.decode(Int.self, forKey: .count)
            first = try values.decodeIfPresent(Int.self, forKey: .first)
            seed = try values.decodeIfPresent(UInt64.self, forKey: .seed)
        }
    }

    /// Sets the web server that devices register with and report to. Without `click_every` they report nothing; with 0
    /// they report only receipts.
    func setFleet(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(ServerChange.self, from: body)
        guard !change.host.isEmpty, (1...65_535).contains(change.port), (change.clickEvery ?? 0) >= 0 else {
            throw SimulatorError(.badRequest, "host is empty, or port or click_every is out of range")
        }
        fleet.use(FleetServer(host: change.host, port: change.port, clickEvery: change.clickEvery ?? -1))
        return HTTP1Answer(fleet.counters)
    }

    /// Has devices register with an application.
    func registerDevices(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(Registration.self, from: body)
        let first = change.first ?? 1
        guard fleet.server != nil else {
            throw SimulatorError(.badRequest, "the devices have no web server: set it with POST /fleet")
        }
        guard (0...FleetRegistration.maxCount).contains(change.count), (0...FleetRegistration.maxCount).contains(first),
            change.integrationKey.utf8.allSatisfy(Self.isPlain)
        else {
            throw SimulatorError(
                .badRequest,
                "count and first must be from 0 to \(FleetRegistration.maxCount), and the key may contain only "
                    + "letters, digits and -._~"
            )
        }
        fleet.register(
            FleetRegistration(
                integrationKey: change.integrationKey,
                platform: change.platform,
                numbers: first..<first + change.count,
                seed: change.seed ?? 0
            )
        )
        return HTTP1Answer(fleet.counters)
    }

    /// Whether a form carries the byte unescaped (RFC 3986 section 2.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
