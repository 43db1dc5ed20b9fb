import TestSupport
import Testing

@testable import PushCore

@Suite struct FormParametersTests {
    private func read(_ text: String) throws -> [String: String] {
        var form = FormParameters()
        try form.read(Array(text.utf8))
        return form.values
    }

    @Test func pairsAreReadInAnyFormAndOrder() throws {
        #expect(try read("") == [:])
        #expect(try read("a=1&b=2") == ["a": "1", "b": "2"])
        #expect(try read("&&b=2&a&=x&") == ["b": "2", "a": "", "": "x"])
        #expect(try read("a=1=2&c%3D=%26") == ["a": "1=2", "c=": "&"])
        #expect(try read("a=x+y&b=x%20y&c=x%2By") == ["a": "x y", "b": "x y", "c": "x+y"])
        #expect(try read("a=1&a=2") == ["a": "2"])
        #expect(try read("n=%E7%BD%91&%e7%bd%91=n") == ["n": "网", "网": "n"])
    }

    @Test(arguments: [
        ("a=%", FormError.Code.malformedEscape), ("a=%4", .malformedEscape), ("a=%zz", .malformedEscape),
        ("%4x=1", .malformedEscape), ("a=%FF", .notUTF8), ("a=%C0%80", .notUTF8), ("a=%ED%A0%80", .notUTF8),
        ("a=%00", .nulCharacter),
    ])
    func wrongEncodingsHaveTheirOwnErrors(_ text: String, _ code: FormError.Code) {
        #expect { try read(text) } throws: { ($0 as? FormError)?.code == code }
    }

    @Test func thereIsALimit() throws {
        let full = (0..<FormParameters.maxCount).map { "p\($0)=1" }.joined(separator: "&")
        #expect(try read(full).count == FormParameters.maxCount)
        #expect { try read(full + "&a=1") } throws: {
            ($0 as? FormError)?.code == .tooManyParameters(limit: FormParameters.maxCount)
        }
    }

    /// Whatever is encoded comes back, however it is encoded.
    @Test func encodedTextsComeBack() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "encodedTextsComeBack"))
        for _ in 0..<2_000 {
            let text = String(
                String.UnicodeScalarView((0..<random.below(20)).map { _ in Self.scalar(&random) })
            )
            let encoded = text.utf8.map { byte -> String in
                if byte == 0x20, random.oneIn(2) { return "+" }
                let isPlain = byte.isLetterOrDigit
                return isPlain && random.oneIn(2) ? String(UnicodeScalar(byte)) : "%" + HexDigit.text([byte])
            }.joined()
            #expect(try read("x=1&k=\(encoded)&y=2")["k"] == text)
        }
    }

    /// No bytes crash the reader, and what it takes is valid text.
    @Test func randomBytesCrashNothing() {
        var random = TestRandom(seed: TestRandom.seed(for: "randomBytesCrashNothing"))
        let alphabet = Array("%&=+aF0\u{0}".utf8) + [0xFF, 0xC3, 0xA9]
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(30)).map { _ in alphabet[random.below(alphabet.count)] }
            var form = FormParameters()
            try? form.read(bytes)
            for (name, value) in form.values { #expect(!(name + value).utf8.contains(0)) }
        }
    }

    private static func scalar(_ random: inout TestRandom) -> UnicodeScalar {
        let limits = [0x80, 0x800, 0x10000, 0x110000]
        let value = UInt32(1 + random.below(limits[random.below(4)] - 1))
        return UnicodeScalar(value) ?? "x"
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
