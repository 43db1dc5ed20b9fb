/// The parts of a `google.rpc.Status` in JSON that matter here; a field of an unexpected type counts as absent.
enum FCMErrorFields {
    struct Envelope: Decodable {
        var error: Status?
    }

    struct Status: Decodable {
        var message: String?
        var status: String?
        var details: [Detail]?

        enum CodingKeys: CodingKey {
            case message, status, details
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            message = try? values.decode(String.self, forKey: .message)
            status = try? values.decode(String.self, forKey: .status)
            details = try? values.decode([Detail].self, forKey: .details)
        }
    }

    struct Detail: Decodable {
        var type: String?
        var errorCode: String?
        var reason: String?
        var metadata: Metadata?
        var fieldViolations: [FieldViolation]?

        enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, reason, metadata, fieldViolations
        }

        init(from decoder: any Decoder) throws {
            // An element that is no object is an empty detail.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            type = try? values.decode(String.self, forKey: .type)
            errorCode = try? values.decode(String.self, forKey: .errorCode)
            reason = try? values.decode(String.self, forKey: .reason)
            metadata = try? values.decode(Metadata.self, forKey: .metadata)
            fieldViolations = try? values.decode([FieldViolation].self, forKey: .fieldViolations)
        }
    }

    struct Metadata: Decodable {
        var quotaLimit: String?

        enum CodingKeys: String, CodingKey {
            case quotaLimit = "quota_limit"
        }
    }

    struct FieldViolation: Decodable {
        var field: String?
    }
}
