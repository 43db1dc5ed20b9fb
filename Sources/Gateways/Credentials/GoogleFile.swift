import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of Google's credential files that matter here, of all kinds.
struct GoogleFile: Decodable {
    /// Where another provider's token is.
    struct CredentialSource: Decodable {
        struct Format: Decodable {
            var type: String?
            var field: String?

            enum CodingKeys: String, CodingKey {
                case type
                case field = "subject_token_field_name"
            }
        }

        /// Only its presence matters.
        struct Executable: Decodable { init(from decoder: any Decoder) throws {} }

        var file: String?
        var url: String?
        var headers: [String: String]?
        var environment: String?
        var executable: Executable?
        var format: Format?

        enum CodingKeys: String, CodingKey {
            case file, url, headers, executable, format
            case environment = "environment_id"
        }
    }

    /// A file within a file.
    final class Inner: Decodable {
        let file: GoogleFile
        init(from decoder: any Decoder) throws { file = try GoogleFile(from: decoder) }
    }

    var type: String?
    var projectID: String?
    var quotaProjectID: String?
    var universe: String?
    // A service account.
    var privateKeyID: String?
    var privateKey: String?
    var clientEmail: String?
    var tokenURI: String?
    // Workload identity, and impersonation.
    var audience: String?
    var subjectTokenType: String?
    var tokenURL: String?
    var impersonationURL: String?
    var source: CredentialSource?
    var sourceCredentials: Inner?
    var delegates: [String]?
    // The metadata server.
    var account: String?

    enum CodingKeys: String, CodingKey {
        case type, audience, delegates, account
        case projectID = "project_id"
        case quotaProjectID = "quota_project_id"
        case universe = "universe_domain"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case tokenURI = "token_uri"
        case subjectTokenType = "subject_token_type"
        case tokenURL = "token_url"
        case impersonationURL = "service_account_impersonation_url"
        case source = "credential_source"
        case sourceCredentials = "source_credentials"
    }

    /// Reads a file of any kind.
    static func fields(_ json: [UInt8]) throws(GatewayCredentialError) -> GoogleFile {
        if let fault = MaterialFault.json(json) { throw error(.wrongKind, fault) }
        guard let file = try? JSONBody.decode(GoogleFile.self, from: ByteOrderMark.dropped(json)) else {
            throw error(.malformed, "it is not a JSON object with text fields: give the file as Google delivered it")
        }
        if let universe = file.universe, universe != "googleapis.com" {
            throw error(
                .wrongKind,
                "its field universe_domain names a cloud other than Google's public one, which has no FCM: create a key in the Firebase console"
            )
        }
        return file
    }

    static func wrongType(_ type: String) -> GatewayCredentialError {
        // Google's kinds are words like "authorized_user"; anything else may be a key in the wrong place.
        let isWord = type.utf8.count <= 40 && type.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        return error(
            .wrongKind,
            "its field type is \(isWord ? type : "something else") instead of service_account: create a service account key in the Firebase console (project settings, service accounts)"
        )
    }

    static func require(_ value: String?, _ field: String) throws(GatewayCredentialError) -> String {
        guard let value, !value.isEmpty else {
            throw error(
                .missing,
                "its field \(field) is missing or empty: give the file as the Firebase console delivered it"
            )
        }
        return value
    }

    /// Refuses characters that would break out of the JSON text or the address that the field is put into.
    static func checkedText(_ value: String, _ field: String) throws(GatewayCredentialError) -> String {
        guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else {
            throw error(.malformed, "its field \(field) contains characters that are never in this field")
        }
        return value
    }

    /// Project ids and numbers go into a path: letters, digits, hyphens, and for old ones a dot and a colon.
    static func checkedProject(_ value: String) throws(GatewayCredentialError) -> String {
        let isAllowed: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0.isNumber || "-.:_".contains($0)) }
        guard value.allSatisfy(isAllowed) else {
            throw error(.malformed, "its field project_id contains characters that are never in a project id")
        }
        return value
    }

    /// The project of a file that need not name one: the impersonated account's, or the quota project.
    static func project(_ file: GoogleFile, _ target: ImpersonationTarget?) throws(GatewayCredentialError) -> String {
        guard let project = file.projectID ?? target?.project ?? file.quotaProjectID, !project.isEmpty else {
            throw error(.missing, "it names no project: add the field project_id with the Firebase project's id")
        }
        return try checkedProject(project)
    }

    static func error(_ code: GatewayCredentialError.Code, _ what: String) -> GatewayCredentialError {
        GatewayCredentialError(code, "the service account file cannot be used: \(what)")
    }
}
