import Synchronization

/// What a gateway is told to do with pushes to a device that it would accept.
public final class ScriptedAnswer: Sendable, Equatable {
    /// What it does.
    public enum Act: Sendable, Equatable {
        /// It rejects the push for one of its own reasons, such as `TooManyRequests`.
        case reason(String)
        /// It answers with a status, header fields and a body that need not be its own, as a proxy might; HTTP v1 and HTTP/2 only.
        /// Without a content type among the fields the body is JSON.
        case response(status: Int, headers: [String: String] = [:], body: String)
        /// It takes the push and never answers; HTTP/2 only.
        case silence
        /// It takes the push and resets its stream with a code of RFC 9113 section 7; HTTP/2 only.
        case reset(UInt32)
        /// It takes the push and drops the connection; HTTP/2 only.
        case drop
    }

    /// What it does.
    public let act: Act
    /// The value of the Retry-After header; none when nil.
    public let retryAfter: String?
    private let left: Atomic<Int>

    /// An answer that is given so many times, or always; then the device is as any other.
    public init(_ act: Act, retryAfter: String? = nil, times: Int? = nil) {
        self.act = act
        self.retryAfter = retryAfter
        left = Atomic(times ?? .max)
    }

    /// Whether it is given once more.
    func take() -> Bool {
        left.subtract(1, ordering: .relaxed).oldValue > 0
    }

    /// The header fields of an answer, in the order of their names: HTTP/2 wants these in lower case (RFC 9113 section 8.2.1).
    static func headers(_ fields: [String: String], retryAfter: String?) -> [(String, String)] {
        var all = ["content-type": "application/json"]
        if let retryAfter { all["retry-after"] = retryAfter }
        for (name, value) in fields { all[name.lowercased()] = value }
        return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The same script, not one that says the same.
    public static func == (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool { left === right }
}
