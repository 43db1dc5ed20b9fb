/// Finds the best of several locales (RFC 4647, "Lookup").
struct LocaleMatcher: Sendable {
    /// No locale is longer; what is longer is none.
    static let longestLocale = 64

    /// The locales in small letters with hyphens, in their order.
    private let locales: [[UInt8]]

    init(_ locales: [String]) {
        self.locales = locales.map { $0.utf8.map(Self.normalised) }
    }

    /// The index of the locale that fits best; 0 when none does.
    func index(of locale: ArraySlice<UInt8>) -> Int {
        guard locales.count > 1, locale.count <= Self.longestLocale else { return 0 }
        var rest = locale
        while !rest.isEmpty {
            for (index, candidate) in locales.enumerated() where Self.isSame(candidate, rest) { return index }
            guard let separator = rest.lastIndex(where: { Self.isSeparator($0) }) else { return 0 }
            rest = rest[..<separator]
        }
        return 0
    }

    /// A locale as it is compared: small letters and hyphens.
    static func normalised(_ locale: String) -> [UInt8] {
        locale.utf8.map(normalised)
    }

    private static func isSame(_ candidate: [UInt8], _ locale: ArraySlice<UInt8>) -> Bool {
        guard candidate.count == locale.count else { return false }
        var index = locale.startIndex
        for byte in candidate {
            if normalised(locale[index]) != byte { return false }
            index += 1
        }
        return true
    }

    private static func normalised(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "_"): UInt8(ascii: "-")
        default: byte
        }
    }

    /// Android writes scripts as `zh-CN-#Hans`, POSIX systems encodings as `fr_FR.UTF-8` and `@euro`.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
