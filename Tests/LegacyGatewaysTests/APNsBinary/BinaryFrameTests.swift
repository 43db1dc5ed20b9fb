import Gateways
import PushCore
import Testing

@testable import LegacyGateways

@Suite("Frames of the binary protocol")
struct BinaryFrameTests {
    private func frame(
        _ attributes: MessageAttributes,
        identifier: UInt32 = 0x0102_0304,
        token: String = "00ffA1",
        payload: String = "{}",
        now: Int64 = 1_000
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        BinaryFrame(attributes, now: now).append(
            identifier: identifier,
            token: Array(token.utf8)[...],
            payload: Array(payload.utf8)[...],
            to: &bytes
        )
        return bytes
    }

    @Test("A frame, byte by byte")
    func bytes() {
        let attributes = MessageAttributes(priority: 10, expirationSeconds: 24)
        #expect(
            frame(attributes) == [
                2, 0, 0, 0, 29,
                1, 0, 3, 0x00, 0xFF, 0xA1,
                2, 0, 2, UInt8(ascii: "{"), UInt8(ascii: "}"),
                3, 0, 4, 1, 2, 3, 4,
                4, 0, 4, 0, 0, 4, 0,
                5, 0, 1, 10,
            ]
        )
    }

    @Test("Expiration: absent, at once, later, and never past the end of the format")
    func expiration() {
        #expect(BinaryFrame(MessageAttributes(), now: 5).expiration == nil)
        #expect(BinaryFrame(MessageAttributes(expirationSeconds: 0), now: 5).expiration == 0)
        #expect(BinaryFrame(MessageAttributes(expirationSeconds: 7), now: 5).expiration == 12)
        #expect(BinaryFrame(MessageAttributes(expirationSeconds: .max), now: Int64(UInt32.max)).expiration == .max)
        #expect(BinaryFrame(MessageAttributes(expirationSeconds: .max), now: -5_000_000_000).expiration == 0)
    }

    @Test("Priority: the protocol knows 10 and 5, and only 5 for a background push")
    func priority() {
        #expect(BinaryFrame(MessageAttributes(), now: 5).priority == nil)
        #expect(BinaryFrame(MessageAttributes(priority: 10), now: 5).priority == 10)
        #expect(BinaryFrame(MessageAttributes(priority: 5), now: 5).priority == 5)
        #expect(BinaryFrame(MessageAttributes(priority: 1), now: 5).priority == 5)
        #expect(BinaryFrame(MessageAttributes(pushType: .background), now: 5).priority == 5)
        #expect(BinaryFrame(MessageAttributes(pushType: .background, priority: 10), now: 5).priority == 5)
    }

    @Test(
        "Valid tokens",
        arguments: [
            ("00", true), ("0", false), ("", false), ("0g", false), ("é0", false), ("00 1", false), ("ABcd", true),
            (String(repeating: "a", count: 200), true), (String(repeating: "a", count: 202), false),
            (String(repeating: "a", count: 64), true),
        ] as [(String, Bool)]
    )
    func tokens(_ text: String, _ isValid: Bool) {
        #expect(BinaryToken.isValid(Array(text.utf8)[...]) == isValid)
        guard isValid else { return }
        var bytes: [UInt8] = []
        BinaryToken.append(Array(text.utf8)[...], to: &bytes)
        #expect(BinaryToken.text(bytes) == text.lowercased())
    }

    @Test("The protocol's limits: a message that does not fit is refused before it is sent, with the reason")
    func admission() throws {
        let admission = BinaryAdmission(limit: PayloadLimits.binary)
        func refusal(_ token: String, _ bytes: Int, _ type: PushType = .alert) -> Outcome? {
            admission.refusal(0, type, token: Array(token.utf8)[...], payload: bytes)
        }
        #expect(refusal("00", 2_048) == nil)
        #expect(refusal("00", 1, .background) == nil)
        let long = try #require(refusal("00", 2_049))
        #expect(long.reason.hasPrefix("PayloadTooLarge:") && long.reason.contains("2048"))
        #expect(long.outcomeClass == .permanent && long.failure == .softUnreachable && long.neverLeft)
        let token = try #require(refusal("zz", 10))
        #expect(token.reason.hasPrefix("InvalidTokenSize:") && token.isTokenDoubtful)
        #expect(token.tokenEffect == .softError, "a token that was never sent is not dead")
        let type = try #require(refusal("00", 10, .voip))
        #expect(type.reason.contains("voip") && type.reason.contains("ios-http2"))
        #expect(refusal("00", 0)?.reason == "PayloadEmpty")
        for type in PushType.allCases where type != .alert && type != .background {
            #expect(refusal("00", 10, type)?.outcomeClass == .permanent)
        }
    }
}
