/// The parts of a legacy FCM answer in JSON that matter here; a field of an unexpected type counts as absent.
enum LegacyAnswerFields {
    struct Envelope: Decodable {
        var results: [Result]?
        /// The error of the whole request.
        var error: String?

        enum CodingKeys: CodingKey {
            case results, error
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            results = try? values.decode([Result].self, forKey: .results)
            error = try? values.decode(String.self, forKey: .error)
        }
    }

    struct Result: Decodable {
        var messageID: String?
        var registrationID: String?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case messageID = "message_id"
            case registrationID = "registration_id"
            case error
        }

        init(from decoder: any Decoder) throws {
            // An element that is no object is an empty result.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            messageID = try? values.decode(String.self, forKey: .messageID)
            registrationID = try? values.decode(String.self, forKey: .registrationID)
            error = try? values.decode(String.self, forKey: .error)
        }
    }
}
