import Foundation
import Gateways
import PushCore
import TestSupport
import Testing

@testable import Content
@testable import MTAChild
@testable import PushCore
@testable import Store

/// A delivery of 20,000 messages that uses every feature of contents, in three locales. `Goldens` has the messages of
/// ten chosen subscribers of each platform, byte for byte.
///
/// With `PUSHMTA_RECORD_GOLDENS` set, the test rewrites the files; review the changes before you commit them.
@Suite struct GoldenDeliveryTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Goldens")
    private static let isRecording = ProcessInfo.processInfo.environment["PUSHMTA_RECORD_GOLDENS"] != nil
    private static let perPlatform = 10_000
    private static let chosen = 10

    private static func content() throws -> String {
        try String(contentsOf: folder.appendingPathComponent("content.json"), encoding: .utf8)
    }

    /// A message as its gateway receives it.
    private struct Message {
        let subscription: Int64
        let body: [UInt8]
        let id: MessageUUID
        let attributes: MessageAttributes
        let collapseID: String?
    }

    private static func messages(_ parts: [PreparedPart]) -> [Message] {
        parts.flatMap { part in
            part.slices.flatMap { slice in
                slice.rows.enumerated().map { place, row in
                    Message(
                        subscription: part.subscriptionIDs[Int(row)],
                        body: Array(slice.batch.bodies[place]),
                        id: slice.batch.messageIDs[place],
                        attributes: slice.batch.attributes,
                        collapseID: slice.batch.collapseIDs?.string(place)
                    )
                }
            }
        }
    }

    @Test func everyoneGetsWhatTheContentSays() async throws {
        let world = try await ContentWorld.make(content: try Self.content(), perPlatform: Self.perPlatform)
        var ids: Set<MessageUUID> = []
        for platform in Platform.allCases {
            let parts = try await world.prepare(platform)
            let messages = Self.messages(parts)
            // Two in sixteen have no name, and the content defines what that means.
            let excluded = parts.flatMap(\.decided)
            #expect(excluded.count == 2 * Self.perPlatform / 16 && messages.count == Self.perPlatform - excluded.count)
            #expect(excluded.allSatisfy { $0.status == .notApplicable && $0.reason == "missing_value: firstName" })
            for message in messages {
                ids.insert(message.id)
                if message.body.count > 4_096 || !Self.isRight(message) {
                    Issue.record(
                        "subscription \(message.subscription): \(String(decoding: message.body, as: UTF8.self))"
                    )
                }
            }
            let first = platform == .ios ? 1 : Self.perPlatform + 1
            let some = messages.filter { (Int64(first)..<Int64(first + Self.chosen)).contains($0.subscription) }
                .sorted { $0.subscription < $1.subscription }
            #expect(some.count == Self.chosen)
            for (place, message) in some.enumerated() {
                let body = Self.withoutValidity(String(decoding: message.body, as: UTF8.self))
                try Self.compare(Array((body + "\n").utf8), with: "\(platform.rawValue)-\(place + 1).json")
                try await compareWithPreview(message, platform, world)
            }
            if platform == .ios {
                try Self.compare(Array(some.map(Self.headers).joined().utf8), with: "ios-headers.txt")
            }
        }
        #expect(ids.count == 2 * Self.perPlatform * 14 / 16, "no message id is used twice")
        try await world.database.drop()
    }

    /// No test would cover the keys of a section that the delivery does not use.
    @Test(arguments: Platform.allCases)
    func theContentHasEveryKey(_ platform: Platform) throws {
        let root = try #require(
            try JSONSerialization.jsonObject(with: Data(Self.content().utf8)) as? [String: Any]
        )
        let locales = try #require(root["locales"] as? [String: [String: Any]])
        let sections = ([root] + locales.values).compactMap { $0[platform.rawValue] as? [String: Any] }
        let used = sections.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        #expect(ContentKey.keys(platform).map(\.name).filter { !used.contains($0) } == [])
        #expect(locales.count == 3 && sections.count == 4)
    }

    /// The preview is what is sent; only the sequence number in the message id differs.
    private func compareWithPreview(_ message: Message, _ platform: Platform, _ world: ContentWorld) async throws {
        let preview = try await world.preview(message.subscription, platform)
        let shown = String(decoding: preview.payload, as: UTF8.self)
        let sent = String(decoding: message.body, as: UTF8.self)
        #expect(Self.withoutID(shown) == Self.withoutID(sent))
        #expect(preview.problem == nil && preview.size <= preview.limit)
    }

    private static func withoutID(_ payload: String) -> String {
        withoutValidity(payload.replacing(/"_mId":"[0-9a-f-]{36}"/, with: ""))
    }

    /// The rest of the delivery's five days differs in each run.
    private static func withoutValidity(_ payload: String) -> String {
        payload.replacing(/,"android":\{"ttl":"[0-9]{6,7}s"\}/, with: "").replacing(/,"ttl":"[0-9]{6,7}s"/, with: "")
    }

    /// Whether a body is JSON with the message's ids in it, for the right device.
    private static func isRight(_ message: Message) -> Bool {
        guard let root = (try? JSONSerialization.jsonObject(with: Data(message.body))) as? [String: Any] else {
            return false
        }
        let fcm = root["message"] as? [String: Any]
        let ids = fcm?["data"] as? [String: Any] ?? root
        var id: [UInt8] = []
        message.id.appendText(to: &id)
        return ids["_mId"] as? String == String(decoding: id, as: UTF8.self) && ids["_dId"] as? String == "1"
            && (fcm == nil || fcm?["token"] is String)
    }

    private static func headers(_ message: Message) -> String {
        let attributes = message.attributes
        return """
            \(message.subscription): \(attributes.pushType.rawValue), priority \(attributes.priority ?? -1), \
            expiration \(attributes.expirationSeconds ?? -1), collapse id \(message.collapseID ?? attributes.collapseID ?? "none")

            """
    }

    private static func compare(_ bytes: [UInt8], with name: String) throws {
        let file = folder.appendingPathComponent(name)
        if isRecording { try Data(bytes).write(to: file) }
        let golden = try String(contentsOf: file, encoding: .utf8)
        #expect(String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(golden.utf8), "\(name)")
    }
}
