import PushCore

/// What registration tokens are made of.
enum LegacyToken {
    /// Whether a token that FCM names can take the place of another one: none is kept that is longer than one that registers.
    static func isCanonical(_ token: String) -> Bool {
        (1...PushTokenForm.androidLength.upperBound).contains(token.utf8.count) && isPlain(token.utf8)
    }

    /// Whether a token has no other characters than FCM's have.
    ///
    /// What has others could be something else to FCM than a device, such as `/topics/news`.
    static func isPlain(_ token: some Sequence<UInt8>) -> Bool {
        token.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
                UInt8(ascii: "."), UInt8(ascii: "%"):
                true
            default: false
            }
        }
    }
}
