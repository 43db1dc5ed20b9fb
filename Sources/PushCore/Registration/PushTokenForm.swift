/// The form of a push token, for each platform.
///
/// A registration is refused only if the text cannot be a token: both gateways say that the length of tokens may
/// change, and only they know whether a token is theirs. Tokens that people type or export are checked more strictly,
/// as they may come from the wrong column or the other platform.
package enum PushTokenForm {
    /// The number of hexadecimal digits of an APNs token: 64 today. Apple says that it may grow; Apple's own type has
    /// 100 bytes.
    package static let iosLength = 16...200
    /// The number of characters of an FCM token: about 160 today. It is indexed, and PostgreSQL limits an index entry
    /// to a third of a page.
    package static let androidLength = 8...2_000
    /// The number of hexadecimal digits of an APNs token that people give; no token has ever had fewer than 64.
    package static let givenIOSLength = 64...200
    /// The number of characters of an FCM token that people give; no token has ever been shorter.
    package static let givenAndroidLength = 20...2_000

    /// The token in the form in which it is stored, an APNs token in lower case; nil if it is malformed.
    package static func normalised(_ token: String, _ platform: Platform) -> String? {
        let bytes = token.utf8
        switch platform {
        case .ios:
            guard iosLength.contains(bytes.count), bytes.count % 2 == 0, isHex(bytes) else { return nil }
            // APNs treats the same token in upper and lower case as two tokens.
            return token.lowercased()
        case .android:
            return androidLength.contains(bytes.count) && isPrintable(bytes) && !isOfIOS(bytes) && !isSentinel(token)
                ? token : nil
        }
    }

    /// Whether it could be a token of any platform. A person named by a token is searched in all applications.
    package static func canBeToken(_ token: String) -> Bool {
        Platform.allCases.contains { normalised(token, $0) != nil }
    }

    /// What is wrong with a token given in a file or on the command line; nil if it is valid. It never contains the
    /// token itself.
    package static func problem(_ token: String, _ platform: Platform) -> String? {
        let bytes = token.utf8
        switch platform {
        case .ios:
            let isToken = isHex(bytes) && bytes.count % 2 == 0 && givenIOSLength.contains(bytes.count)
            return isToken
                ? nil
                : "the push token is not an APNs token: 64 hexadecimal digits, or an even number up to "
                    + "\(givenIOSLength.upperBound) (found \(bytes.count) characters)"
        case .android:
            if isSentinel(token) {
                return "the push token is a word that SDKs send instead of a token"
            }
            if isOfIOS(bytes) {
                return "the push token belongs to an iOS device: it has hexadecimal digits only"
            }
            return givenAndroidLength.contains(bytes.count) && isPrintable(bytes)
                ? nil
                : "the push token is not an FCM token: \(givenAndroidLength.lowerBound) to \(givenAndroidLength.upperBound) "
                    + "printable characters (found \(bytes.count))"
        }
    }

    /// The form of a token, for messages.
    package static func words(_ platform: Platform) -> String {
        switch platform {
        case .ios:
            "an APNs token: an even number of \(iosLength.lowerBound) to \(iosLength.upperBound) hexadecimal digits"
        case .android:
            "an FCM token: \(androidLength.lowerBound) to \(androidLength.upperBound) printable characters without spaces, not an iOS token"
        }
    }

    /// Words that SDKs and other programs send when there is no token: Google's error codes, earlier answers of its
    /// servers, and the words of programming languages for nothing. They are in lower case, with letters and digits
    /// only.
    private static let sentinels: Set<String> = [
        "blacklisted", "undefined", "null", "nil", "none", "nan", "unknown", "notavailable", "unavailable",
        "notregistered",
        "servicenotavailable", "authenticationfailed", "accountmissing", "toomanyregistrations", "invalidsender",
        "phoneregistrationerror", "invalidparameters", "missinginstanceidservice", "fisautherror",
        "internalservererror",
        "timeout", "unregistered", "placeholder", "dummytoken", "faketoken", "objectobject", "simulator", "emulator",
    ]
    /// The length of the longest of them, so that real tokens are skipped at once.
    private static let maxSentinelLength = 40

    private static func isSentinel(_ token: String) -> Bool {
        guard token.utf8.count <= maxSentinelLength else { return false }
        return sentinels.contains(token.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// Whether an Android token belongs to an iOS device: it has hexadecimal digits only, which no FCM token has.
    private static func isOfIOS(_ bytes: String.UTF8View) -> Bool {
        bytes.count >= givenIOSLength.lowerBound && isHex(bytes)
    }

    private static func isHex(_ bytes: String.UTF8View) -> Bool {
        bytes.allSatisfy { HexDigit.value($0) != nil }
    }

    /// ASCII without the space: 0x21 to 0x7E.
    private static func isPrintable(_ bytes: String.UTF8View) -> Bool {
        bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
