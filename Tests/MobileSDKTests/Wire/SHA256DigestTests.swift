import Foundation
import Testing

@testable import MobileSDK

/// Vectors of FIPS 180-4's examples (NIST CSRC).
@Suite struct SHA256DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func vectors(_ message: String, _ digest: String) {
        #expect(SHA256Digest.hex(Array(message.utf8)) == digest)
    }

    @Test func aMillionTimesA() {
        let digest = SHA256Digest.hex([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
        #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// All lengths in which the padding starts, fills or crosses a block: the digest of their digests, made with Python's
    /// hashlib of the messages "a" * n for n from 0 to 200.
    @Test func everyPadding() {
        let digests = (0...200).map { SHA256Digest.hex([UInt8](repeating: UInt8(ascii: "a"), count: $0)) }
        #expect(
            SHA256Digest.hex(Array(digests.joined().utf8))
                == "eb555248bd20c7831e511d4461b42c9b084e3a64b44d57b00051172f8afe03ff"
        )
    }
}
