/// What a push token looks like, for each platform.
///
/// A registration is refused only for what can be no token: both gateways say that a token's length may change, and only
/// they know whether one is theirs. What people type or export is looked at more closely, as it may be the wrong column or the token of
/// the other platform.
public enum PushTokenForm {
    /// Hexadecimal digits of an APNs token: 64 today; Apple says that the length may grow, its own type has 100 bytes.
    public static let iosLength = 16...200
    /// Characters of an FCM token: about 160 today. An index holds it, whose entries are limited to a third of a page.
    public static let androidLength = 8...2_000
    /// Hexadecimal digits of an APNs token that people give: none has had fewer than 64.
    public static let givenIOSLength = 64...200
    /// Characters of an FCM token that people give: none has been shorter.
    public static let givenAndroidLength = 20...2_000

    /// The token as it is kept, APNs' in lower case; nil if it is malformed.
    public static func normalised(_ token: String, _ platform: Platform) -> String? {
        let bytes = token.utf8
        switch platform {
        case .ios:
            guard iosLength.contains(bytes.count), bytes.count % 2 == 0, isHex(bytes) else { return nil }
            // The gateway takes one token in two cases for two.
            return token.lowercased()
        case .android:
            return androidLength.contains(bytes.count) && isPrintable(bytes) && !isOfIOS(bytes) && !isSentinel(token)
                ? token : nil
        }
    }

    /// Whether it could be a token of some platform: whoever is named by it is looked for in all applications.
    public static func canBeToken(_ token: String) -> Bool {
        Platform.allCases.contains { normalised(token, $0) != nil }
    }

    /// What is wrong with a token that people give, in a file or on the command line; nil if nothing is. Never the token itself.
    public static func problem(_ token: String, _ platform: Platform) -> String? {
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
                return "the push token is that of an iOS device: hexadecimal digits only"
            }
            return givenAndroidLength.contains(bytes.count) && isPrintable(bytes)
                ? nil
                : "the push token is not an FCM token: \(givenAndroidLength.lowerBound) to \(givenAndroidLength.upperBound) "
                    + "printable characters (found \(bytes.count))"
        }
    }

    /// What a token has to be, for messages.
    public static func words(_ platform: Platform) -> String {
        switch platform {
        case .ios:
            "an APNs token: an even number of \(iosLength.lowerBound) to \(iosLength.upperBound) hexadecimal digits"
        case .android:
            "an FCM token: \(androidLength.lowerBound) to \(androidLength.upperBound) printable characters without spaces, not an iOS token"
        }
    }

    /// Words that SDKs, and the programs around them, give where there is no token, in lower case and without what is neither letter nor
    /// digit: Google's error codes, what its servers once answered, and what languages print for nothing.
    private static let sentinels: Set<String> = [
        "blacklisted", "undefined", "null", "nil", "none", "nan", "unknown", "notavailable", "unavailable",
        "notregistered",
        "servicenotavailable", "authenticationfailed", "accountmissing", "toomanyregistrations", "invalidsender",
        "phoneregistrationerror", "invalidparameters", "missinginstanceidservice", "fisautherror",
        "internalservererror",
        "timeout", "unregistered", "placeholder", "dummytoken", "faketoken", "objectobject", "simulator", "emulator",
    ]
    /// The longest of them, so that real tokens cost nothing.
    private static let longestSentinel = 40

    private static func isSentinel(_ token: String) -> Bool {
        guard token.utf8.count <= longestSentinel else { return false }
        return sentinels.contains(token.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// Whether an Android token is that of an iOS device: hexadecimal digits only, as none of FCM's is.
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

/// Locales and time zones as people give them: fr-CA, zh-Hant-TW, en_US@rg=gbzzzz; Europe/Paris, Etc/GMT+2. Which there are changes
/// with the years, so that only their form is looked at.
public enum DeviceSetting {
    /// Bytes of a locale or of a time zone's name: far more than the longest has.
    public static let longest = 64

    /// What is wrong with a locale; nil if nothing is, or if it is empty.
    public static func problem(locale: String) -> String? {
        isWord(locale, marks: "-_@=;.#")
            ? nil : "is not a locale: give a language, with a region if needed, as in fr or fr-CA"
    }

    /// What is wrong with a time zone; nil if nothing is, or if it is empty.
    public static func problem(timeZone: String) -> String? {
        isWord(timeZone, marks: "/_+-") ? nil : "is not a time zone: give a name such as Europe/Paris"
    }

    private static func isWord(_ text: String, marks: String) -> Bool {
        guard let first = text.utf8.first else { return true }
        guard text.utf8.count <= longest, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || marks.utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
