/// What a push token looks like, for each platform.
///
/// A registration is refused only for what can be no token: both gateways say that a token's length may change, and only
/// they know whether one is theirs.
public enum PushTokenForm {
    /// Hexadecimal digits of an APNs token: 64 today; Apple says that the length may grow, its own type has 100 bytes.
    public static let iosLength = 16...200
    /// Characters of an FCM token: about 160 today. An index holds it, whose entries are limited to a third of a page.
    public static let androidLength = 8...2_000

    /// The token as it is kept, APNs' in lower case; nil if it is malformed.
    public static func normalised(_ token: String, _ platform: Platform) -> String? {
        let bytes = token.utf8
        switch platform {
        case .ios:
            guard iosLength.contains(bytes.count), bytes.count % 2 == 0,
                bytes.allSatisfy({ HexDigit.value($0) != nil })
            else { return nil }
            // The gateway takes one token in two cases for two.
            return token.lowercased()
        case .android:
            // Printable ASCII without the space: 0x21 to 0x7E.
            return androidLength.contains(bytes.count) && bytes.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
        }
    }

    /// What a token has to be, for messages.
    public static func words(_ platform: Platform) -> String {
        switch platform {
        case .ios:
            "an APNs token: an even number of \(iosLength.lowerBound) to \(iosLength.upperBound) hexadecimal digits"
        case .android:
            "an FCM token: \(androidLength.lowerBound) to \(androidLength.upperBound) printable characters without spaces"
        }
    }
}
