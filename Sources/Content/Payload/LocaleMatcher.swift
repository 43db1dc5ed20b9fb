import PushCore

/// Finds the best match among several locales (RFC 4647, "Lookup").
struct LocaleMatcher: Sendable {
    /// The maximum length of a locale in bytes; a longer text is not a locale.
    static let maxLocaleLength = 64

    /// The locales in lower case with hyphens, in order.
    private let locales: [[UInt8]]

    init(_ locales: [String]) {
        self.locales = locales.map(Self.normalised)
    }

    /// The index of the locale that matches best; 0 if none does.
    func index(of locale: ArraySlice<UInt8>) -> Int {
        guard locales.count > 1, locale.count <= Self.maxLocaleLength else { return 0 }
        guard LocaleTag.mayChange(locale) else { return lookUp(locale) }
        return lookUp(Array(LocaleTag.canonical(String(decoding: locale, as: UTF8.self)).utf8)[...])
    }

    private func lookUp(_ locale: ArraySlice<UInt8>) -> Int {
        var rest = locale
        while !rest.isEmpty {
            for (index, candidate) in locales.enumerated() where Self.isSame(candidate, rest) { return index }
            guard let separator = rest.lastIndex(where: { Self.isSeparator($0) }) else { return 0 }
            rest = rest[..<separator]
        }
        return 0
    }

    /// A locale in the form for comparisons: canonical, in lower case.
    static func normalised(_ locale: String) -> [UInt8] {
        LocaleTag.canonical(locale).utf8.map(normalised)
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

    /// Android writes scripts as in `zh-CN-#Hans`; POSIX systems write encodings and modifiers as in `fr_FR.UTF-8` and
    /// `@euro`.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
