import Synchronization

/// A scripted answer to otherwise acceptable pushes to a device.
package final class ScriptedAnswer: Sendable, Equatable {
    package enum Act: Sendable, Equatable {
        /// Rejects the push with one of the gateway's reasons, such as `TooManyRequests`.
        case reason(String)
        /// Answers with any status, header fields and body, as a proxy might; HTTP v1 and HTTP/2 only. Without a
        /// content type among the fields the body is JSON.
        case response(status: Int, headers: [String: String] = [:], body: String)
        /// Accepts the push and never answers; HTTP/2 only.
        case silence
        /// Accepts the push and resets its stream with a code of RFC 9113 section 7; HTTP/2 only.
        case reset(UInt32)
        /// Accepts the push and drops the connection; HTTP/2 only.
        case drop
    }

    package let act: Act
    /// The value of the Retry-After header; none when nil.
    package let retryAfter: String?
    private let left: Atomic<Int>

    /// An answer that is given `times` times; nil for always. Afterwards the device behaves normally.
    package init(_ act: Act, retryAfter: String? = nil, times: Int? = nil) {
        self.act = act
        self.retryAfter = retryAfter
        left = Atomic(times ?? .max)
    }

    /// Uses the answer once; false if it is used up.
    func take() -> Bool {
        left.subtract(1, ordering: .relaxed).oldValue > 0
    }

    /// The header fields of an answer, sorted by name. HTTP/2 requires lower-case names (RFC 9113 section 8.2.1).
    static func headers(_ fields: [String: String], retryAfter: String?) -> [(String, String)] {
        var all = ["content-type": "application/json"]
        if let retryAfter { all["retry-after"] = retryAfter }
        for (name, value) in fields { all[name.lowercased()] = value }
        return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Compares identity, not contents.
    package static func == (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool { left === right }
}

extension ScriptedAnswer {
    /// A scripted answer in the control port's form.
    package struct Description: Sendable, Equatable, Codable {
        package var act: Act
        /// The value of the Retry-After header; none when nil.
        package var retryAfter: String?
        /// How often it is given; nil for always.
        package var times: Int?

        /// A description of an answer.
        package init(_ act: Act, retryAfter: String? = nil, times: Int? = nil) {
            self.act = act
            self.retryAfter = retryAfter
            self.times = times
        }

        /// A new answer from this description.
        var answer: ScriptedAnswer { ScriptedAnswer(act, retryAfter: retryAfter, times: times) }

        private enum Key: String, CodingKey, CaseIterable {
            case reason, status, headers, body, silence, reset, drop, times
            case retryAfter = "retry_after"
        }

        /// Reads `{"reason":"TooManyRequests"}`, `{"status":502,"headers":{"content-type":"text/html"},"body":"…"}`,
        /// `{"silence":true}`, `{"reset":2}` or `{"drop":true}`, each with optional `"times"` and `"retry_after"`.
        package init(from decoder: any Decoder) throws {
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
        package func encode(to encoder: any Encoder) throws {
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
