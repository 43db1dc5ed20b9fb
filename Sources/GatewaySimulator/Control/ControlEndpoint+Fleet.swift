import Foundation
import PushCore

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
                throw SimulatorError(.badRequest, "\"\(name)\" is no platform; ios and android are")
            }
            self.platform = platform
            count = try values.decode(Int.self, forKey: .count)
            first = try values.decodeIfPresent(Int.self, forKey: .first)
            seed = try values.decodeIfPresent(UInt64.self, forKey: .seed)
        }
    }

    /// Names the web server that devices register with and report to. Without `click_every` they report nothing, with 0 they
    /// report receipts only.
    func setFleet(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(ServerChange.self, from: body)
        guard !change.host.isEmpty, (1...65_535).contains(change.port), (change.clickEvery ?? 0) >= 0 else {
            throw SimulatorError(.badRequest, "host, port or click_every is out of its range")
        }
        fleet.use(FleetServer(host: change.host, port: change.port, clickEvery: change.clickEvery ?? -1))
        return HTTP1Answer(fleet.counters)
    }

    /// Has devices register with an application.
    func registerDevices(_ body: [UInt8]) throws -> HTTP1Answer {
        let change = try JSONBody.decode(Registration.self, from: body)
        let first = change.first ?? 1
        guard fleet.server != nil else {
            throw SimulatorError(.badRequest, "the devices have no web server: POST /fleet names it")
        }
        guard (0...FleetRegistration.most).contains(change.count), (0...FleetRegistration.most).contains(first),
            change.integrationKey.utf8.allSatisfy(Self.isPlain)
        else {
            throw SimulatorError(
                .badRequest,
                "count or first is not between 0 and \(FleetRegistration.most), or the key has more than letters, digits and -._~"
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

    /// What a form carries as it is (RFC 3986 section 2.3).
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
