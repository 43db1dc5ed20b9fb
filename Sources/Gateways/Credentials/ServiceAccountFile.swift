/// The fields of a service account's JSON file that matter here.
struct ServiceAccountFile: Decodable {
    var type: String?
    var projectID: String?
    var privateKeyID: String?
    var privateKey: String?
    var clientEmail: String?
    var tokenURI: String?

    enum CodingKeys: String, CodingKey {
        case type
        case projectID = "project_id"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case tokenURI = "token_uri"
    }
}
