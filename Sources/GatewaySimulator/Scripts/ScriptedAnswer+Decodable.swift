extension ScriptedAnswer {
    /// The form in which the control port takes one.
    struct Description: Decodable {
        let answer: ScriptedAnswer

        private enum Key: String, CodingKey, CaseIterable {
            case reason, status, body, silence, reset, drop, times
            case retryAfter = "retry_after"
        }

        /// Reads `{"reason":"TooManyRequests"}`, `{"status":404,"body":"…"}`, `{"silence":true}`, `{"reset":2}` or
        /// `{"drop":true}`, each with `"times"` and `"retry_after"` if wanted.
        init(from decoder: any Decoder) throws {
            try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
            let values = try decoder.container(keyedBy: Key.self)
            let act: Act
            if let reason = try values.decodeIfPresent(String.self, forKey: .reason) {
                act = .reason(reason)
            } else if let status = try values.decodeIfPresent(Int.self, forKey: .status), (100...999).contains(status) {
                act = .response(status: status, body: try values.decodeIfPresent(String.self, forKey: .body) ?? "")
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
            answer = ScriptedAnswer(
                act,
                retryAfter: try values.decodeIfPresent(String.self, forKey: .retryAfter),
                times: try values.decodeIfPresent(Int.self, forKey: .times)
            )
        }
    }
}
