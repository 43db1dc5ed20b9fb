extension ScriptedAnswer {
    /// The form in which the control port takes one.
    public struct Description: Sendable, Equatable, Codable {
        /// What the gateway does.
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
