import Synchronization

/// Makes ids for requests: unique in a process, and unlikely to be those of another.
final class RequestIDs: Sendable {
    private let prefix = String(UInt32.random(in: 0 ... .max), radix: 16) + "-"
    private let count = Atomic<UInt64>(0)

    func next() -> String {
        prefix + String(count.add(1, ordering: .relaxed).newValue, radix: 16)
    }

    /// The longest id of a proxy's that is taken over.
    private static let longest = 64

    /// Whether an id that a trusted proxy gave can stand in a log and a header.
    static func isSound(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= longest
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
