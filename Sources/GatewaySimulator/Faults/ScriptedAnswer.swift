import Synchronization

/// What a gateway is told to do with pushes to a device that it would accept.
public final class ScriptedAnswer: Sendable, Equatable {
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

extension ScriptedAnswer {
    /// The form in which the control port takes one.
    public struct Description: Sendable, Equatable, Codable {
        public var act: Act
        /// The value of the Retry-After header; none when nil.
        public var retryAfter: String?
        /// How often it does so; always when nil.
        public var times: Int?

        /// A description of an answer.
        public init(_ act: Act, retryAfter: String? = nil, times: Int? = nil) {
            self.act = act
            self.retryAfter = retryAfter
            self.times = times
        }

        /// A new answer that does as described.
        var answer: ScriptedAnswer { ScriptedAnswer(act, retryAfter: retryAfter, times: times) }

        private enum Key: String, CodingKey, CaseIterable {
            case reason, status, headers, body, silence, reset, drop, times
            case retryAfter = "retry_after"
        }

        /// Reads `{"reason":"TooManyRequests"}`, `{"status":502,"headers":{"content-type":"text/html"},"body":"…"}`,
        /// `{"silence":true}`, `{"reset":2}` or `{"drop":true}`, each with `"times"` and `"retry_after"` if wanted.
        public init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: Key.self)
            if let reason = try values.decodeIfPresent(String.self, forKey: .reason) {
                act = .reason(reason)
            } else if let status = try values.decodeIfPresent(Int.self, forKey: .status), (100...999).contains(status) {
                act = .response(
                    status: status,
                    headers: try values.decodeIfPresent([String: String].self, forKey: .headers) ?? [:],
                    body: try values.decodeIfPresent(String.self, forKey: .body) ?? ""
                )
            } else if let code = try values.decodeIfPresent(UInt32.self, forKey: .reset) {
                act = .reset(code)
            } else if try values.decodeIfPresent(Bool.self, forKey: .silence) == true {
                act = .silence
            } else if try values.decodeIfPresent(Bool.self, forKey: .drop) == true {
                act = .drop
            } else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription:
                            "an answer needs a reason, a status from 100 to 999, a reset, a silence or a drop"
                    )
                )
            }
            retryAfter = try values.decodeIfPresent(String.self, forKey: .retryAfter)
            times = try values.decodeIfPresent(Int.self, forKey: .times)
        }

        /// Writes the form that `init(from:)` reads.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            switch act {
            case .reason(let reason): try values.encode(reason, forKey: .reason)
            case .response(let status, let headers, let body):
                try values.encode(status, forKey: .status)
                try values.encode(headers, forKey: .headers)
                try values.encode(body, forKey: .body)
            case .silence: try values.encode(true, forKey: .silence)
            case .reset(let code): try values.encode(code, forKey: .reset)
            case .drop: try values.encode(true, forKey: .drop)
            }
            try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
            try values.encodeIfPresent(times, forKey: .times)
        }
    }
}
