import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The account whose access tokens FCM's HTTP v1 API gets: that of one of Google's credential files, or the machine's
/// own.
///
/// The files are those of google-auth (`GOOGLE_APPLICATION_CREDENTIALS`). Users supply them, also through the console.
/// A file without a key tells the process which file to read and where to send its contents. So tokens go only to the
/// Google addresses that issue tokens, and the process reads only what ``TokenSourcePolicy``, the host's settings,
/// allows.
package enum GoogleAccount: Sendable, CustomStringConvertible, CustomReflectable {
    /// A service account with its key.
    case serviceAccount(ServiceAccount)
    /// Workload identity federation: the token of another identity provider is exchanged (`external_account`).
    case workload(WorkloadIdentity)
    /// One account impersonates another (`impersonated_service_account`).
    case impersonated(ImpersonatedAccount)
    /// The machine's service account, for which Google's metadata server issues tokens.
    case metadata(MetadataAccount)

    /// Reads a file.
    ///
    /// - Throws: `GatewayCredentialError` that says what is wrong; the only value of the file in it is the type.
    package init(json: [UInt8]) throws(GatewayCredentialError) {
        try self.init(json: json, hosts: .google)
    }

    init(json: [UInt8], hosts: GoogleHosts) throws(GatewayCredentialError) {
        let fields = try GoogleFile.fields(json)
        switch try GoogleFile.require(fields.type, "type") {
        case "service_account": self = .serviceAccount(try ServiceAccount(fields))
        case "external_account": self = .workload(try WorkloadIdentity(fields, hosts))
        case "impersonated_service_account": self = .impersonated(try ImpersonatedAccount(fields, hosts))
        case "metadata_server": self = .metadata(try MetadataAccount(fields))
        case let type: throw GoogleFile.wrongType(type)
        }
    }

    /// The Firebase project's id.
    package var projectID: String {
        switch self {
        case .serviceAccount(let account): account.projectID
        case .workload(let account): account.projectID
        case .impersonated(let account): account.projectID
        case .metadata(let account): account.projectID
        }
    }

    /// Which account it is, without material.
    package var description: String {
        switch self {
        case .serviceAccount(let account): account.description
        case .workload(let account): "workload identity of project \(account.projectID)"
        case .impersonated(let account): "impersonated service account \(account.target.email)"
        case .metadata(let account): "metadata server's account of project \(account.projectID)"
        }
    }

    /// Shows none of the material.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Checks that the settings of this host allow what the account reads, and where it asks for tokens.
    ///
    /// - Parameter gateways: the hosts of external accounts for which the operator has named certificate authorities;
    ///   token endpoints may be on them too.
    package func requireAllowed(
        by policy: TokenSourcePolicy,
        gateways: [String] = []
    ) throws(GatewayCredentialError) {
        switch self {
        case .serviceAccount(let account): try policy.require(account, gateways)
        case .workload(let account): try policy.require(account.source)
        case .impersonated(let account):
            switch account.source {
            case .serviceAccount(let source): try policy.require(source, gateways)
            case .workload(let source): try policy.require(source.source)
            }
        case .metadata: try policy.requireMetadataServer()
        }
    }
}

/// What the host's settings allow credentials without their own key to read. Without this limit, a user who uploads a
/// credential in the console could have a file or an address of the host's network read and sent elsewhere.
package struct TokenSourcePolicy: Sendable, Hashable {
    /// The folder that contains token files; empty for none.
    package let folder: String
    /// The addresses that may be requested, exactly as written.
    package let addresses: [String]
    /// Whether Google's metadata server may be queried.
    package let allowsMetadataServer: Bool

    package init(_ settings: TokenSourceSettings) {
        folder = settings.tokenPath
        addresses = settings.tokenURLs.split { $0 == ";" || $0.isWhitespace }.map(String.init)
        allowsMetadataServer = settings.metadataServer
    }

    func require(_ source: WorkloadIdentity.Source) throws(GatewayCredentialError) {
        switch source {
        case .file(let path):
            guard !folder.isEmpty else {
                throw GoogleFile.error(
                    .notAllowed,
                    "it reads a token from a file, which this host does not allow: set nmac.fcm.tokenPath to the folder of the file, on each host"
                )
            }
            guard path.hasPrefix(Self.withSlash(folder)), !path.split(separator: "/").contains("..") else {
                throw GoogleFile.error(
                    .notAllowed,
                    "the file of its credential_source is not in \(folder) (nmac.fcm.tokenPath): put it there, or change the setting"
                )
            }
        case .address(let url, _):
            guard addresses.contains(url) else {
                throw GoogleFile.error(
                    .notAllowed,
                    "this host does not allow the address of its credential_source: add it, exactly as written, to nmac.fcm.tokenURLs on each host"
                )
            }
        }
    }

    /// A signed grant reveals no secret. But the POST can reach anything that this host reaches, and text of the answer
    /// is shown.
    func require(_ account: ServiceAccount, _ gateways: [String]) throws(GatewayCredentialError) {
        let address = account.tokenURI
        guard !ServiceAccount.googlesTokenURIs.contains(address), !addresses.contains(address) else { return }
        if let host = Self.host(address), gateways.contains(host) { return }
        throw GoogleFile.error(
            .notAllowed,
            "its field token_uri is not Google's, and this host does not allow it: give the file as the Firebase console delivered it, or add the address, exactly as written, to nmac.fcm.tokenURLs on each host"
        )
    }

    /// The host of an https address, in an external account's form; nil if there is none or a user name precedes it.
    private static func host(_ address: String) -> String? {
        guard address.hasPrefix("https://") else { return nil }
        let server = address.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var host = server
        if let colon = server.lastIndex(of: ":"), server[colon...].dropFirst().allSatisfy(\.isNumber) {
            host = server[..<colon]
        }
        return (try? GatewayHost(String(host)))?.text
    }

    func requireMetadataServer() throws(GatewayCredentialError) {
        guard allowsMetadataServer else {
            throw GoogleFile.error(
                .notAllowed,
                "it uses Google's metadata server, which this host does not allow: set nmac.fcm.metadataServer to true, on each host"
            )
        }
    }

    /// Reads a token file; no symbolic link leads out of the folder.
    func read(_ path: String) -> [UInt8]? {
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard !folder.isEmpty, real.hasPrefix(Self.withSlash(root)),
            let kind = try? FileManager.default.attributesOfItem(atPath: real),
            kind[.type] as? FileAttributeType == .typeRegular,
            let size = kind[.size] as? Int, size <= Self.maxFileSize
        else { return nil }
        return FileManager.default.contents(atPath: real).map(Array.init)
    }

    /// Tokens are a few kilobytes.
    private static let maxFileSize = 65_536

    private static func withSlash(_ folder: String) -> String { folder.hasSuffix("/") ? folder : folder + "/" }
}

/// Which addresses tokens may be sent to: those of the two APIs that google-auth uses. Other Google hosts serve what
/// strangers upload.
struct GoogleHosts: Sendable {
    static let google = GoogleHosts(other: nil)
    /// The address of a test server.
    let other: String?

    /// What follows this path in an address of one of Google's APIs.
    ///
    /// - Parameter api: the API's name; its client certificate variant (`.mtls`) is accepted too.
    func rest(
        of address: String,
        _ field: String,
        api: String,
        path: String
    ) throws(GatewayCredentialError) -> String {
        let servers =
            ["https://\(api).googleapis.com", "https://\(api).mtls.googleapis.com"] + [other].compactMap { $0 }
        let text = try GoogleFile.checkedText(address, field)
        guard let start = servers.map({ $0 + path }).first(where: { text.hasPrefix($0) }) else {
            throw GoogleFile.error(
                .malformed,
                "its field \(field) is not an https address of Google (\(servers[0] + path)): tokens are sent nowhere else"
            )
        }
        return String(text.dropFirst(start.count))
    }
}

/// The impersonated service account: where its tokens are issued.
struct ImpersonationTarget: Sendable {
    /// The address of `generateAccessToken`.
    let url: String
    /// The account's e-mail address.
    let email: String

    init(_ url: String, _ hosts: GoogleHosts) throws(GatewayCredentialError) {
        let field = "service_account_impersonation_url"
        let path = "/v1/projects/-/serviceAccounts/"
        let rest = try hosts.rest(of: url, field, api: "iamcredentials", path: path)
        let end = ":generateAccessToken"
        let email = rest.hasSuffix(end) ? String(rest.dropLast(end.count)) : ""
        guard Self.isEmail(email) else {
            throw GoogleFile.error(
                .malformed,
                "its field \(field) is not …\(path)NAME@PROJECT.iam.gserviceaccount.com\(end)"
            )
        }
        self.url = url
        self.email = email
    }

    /// A name, @ and a domain, without characters that end or escape anything in an address.
    private static func isEmail(_ text: String) -> Bool {
        let isAllowed: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isAllowed) }
    }

    /// The project that the account's address names; nil for Google's own accounts.
    var project: String? {
        let end = ".iam.gserviceaccount.com"
        guard let host = email.split(separator: "@").last, host.hasSuffix(end) else { return nil }
        return String(host.dropLast(end.count))
    }
}

/// Workload identity federation (RFC 8693): another identity provider's token is exchanged for one of Google's.
package struct WorkloadIdentity: Sendable {
    /// Where the provider's token is read.
    enum Source: Sendable, Hashable {
        case file(String)
        case address(String, headers: [String: String])
    }

    let projectID: String
    let audience: String
    let subjectTokenType: String
    let tokenURL: String
    let source: Source
    /// The field of the JSON object that holds the token; nil if the whole text is the token.
    let field: String?
    let target: ImpersonationTarget?

    init(_ file: GoogleFile, _ hosts: GoogleHosts) throws(GatewayCredentialError) {
        audience = try GoogleFile.checkedText(try GoogleFile.require(file.audience, "audience"), "audience")
        subjectTokenType = try GoogleFile.checkedText(
            try GoogleFile.require(file.subjectTokenType, "subject_token_type"),
            "subject_token_type"
        )
        tokenURL = file.tokenURL ?? "https://sts.googleapis.com/v1/token"
        guard try hosts.rest(of: tokenURL, "token_url", api: "sts", path: "/v1/token").isEmpty else {
            throw GoogleFile.error(
                .malformed,
                "its field token_url does not end with /v1/token: Google's is https://sts.googleapis.com/v1/token"
            )
        }
        var target: ImpersonationTarget?
        if let url = file.impersonationURL { target = try ImpersonationTarget(url, hosts) }
        self.target = target
        projectID = try GoogleFile.project(file, target)
        guard let source = file.source else {
            throw GoogleFile.error(
                .missing,
                "its field credential_source is missing: create the file again with gcloud iam workload-identity-pools create-cred-config"
            )
        }
        guard source.executable == nil else {
            throw GoogleFile.error(
                .wrongKind,
                "its credential_source is a program, and PushMTA runs none for a credential: let it write its token to a file, and name that file"
            )
        }
        guard source.environment == nil else {
            throw GoogleFile.error(
                .wrongKind,
                "its credential_source is AWS, which is not supported: use an OpenID Connect token from a file or an address"
            )
        }
        if let path = source.file, path.hasPrefix("/") {
            self.source = .file(try GoogleFile.checkedText(path, "credential_source.file"))
        } else if let url = source.url, url.hasPrefix("https://") || url.hasPrefix("http://") {
            self.source = .address(
                try GoogleFile.checkedText(url, "credential_source.url"),
                headers: source.headers ?? [:]
            )
        } else {
            throw GoogleFile.error(
                .malformed,
                "its credential_source names neither a file by its full path nor an address"
            )
        }
        if source.format?.type == "json" {
            field = try GoogleFile.require(source.format?.field, "subject_token_field_name")
        } else {
            field = nil
        }
    }

    /// Extracts the provider's token from what was read.
    func subjectToken(_ bytes: [UInt8]) -> String? {
        guard let field else {
            let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            return text.isEmpty ? nil : text
        }
        return (try? JSONBody.decode([String: TextOrNothing].self, from: bytes))?[field]?.text
    }

    /// A text; other values count as absent.
    private struct TextOrNothing: Decodable {
        let text: String?
        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }
}

/// A service account that another account impersonates.
package struct ImpersonatedAccount: Sendable {
    /// The account that impersonates it.
    enum Source: Sendable {
        case serviceAccount(ServiceAccount)
        case workload(WorkloadIdentity)
    }

    let projectID: String
    let source: Source
    let target: ImpersonationTarget
    /// The delegates between the two, in the form of Google's API.
    let delegates: [String]

    init(_ file: GoogleFile, _ hosts: GoogleHosts) throws(GatewayCredentialError) {
        let url = try GoogleFile.require(file.impersonationURL, "service_account_impersonation_url")
        let target = try ImpersonationTarget(url, hosts)
        self.target = target
        guard let inner = file.sourceCredentials?.file else {
            throw GoogleFile.error(.missing, "its field source_credentials is missing")
        }
        var innerWithProject = inner
        if inner.projectID == nil { innerWithProject.projectID = try GoogleFile.project(file, target) }
        switch inner.type {
        case "service_account": source = .serviceAccount(try ServiceAccount(innerWithProject))
        case "external_account": source = .workload(try WorkloadIdentity(innerWithProject, hosts))
        default:
            throw GoogleFile.error(
                .wrongKind,
                "its source_credentials are a user's, or of an unsupported kind: use those of a service account or a workload identity"
            )
        }
        projectID = try GoogleFile.project(file, target)
        var delegates: [String] = []
        for delegate in file.delegates ?? [] { delegates.append(try GoogleFile.checkedText(delegate, "delegates")) }
        self.delegates = delegates
    }
}

/// The service account of the machine, on Google's own machines and clusters.
package struct MetadataAccount: Sendable {
    let projectID: String
    /// Which of the machine's accounts; `default` unless the file names one.
    let account: String

    init(_ file: GoogleFile) throws(GatewayCredentialError) {
        projectID = try GoogleFile.project(file, nil)
        let account = try GoogleFile.checkedText(file.account ?? "default", "account")
        guard !account.contains("/"), !account.contains("?") else {
            throw GoogleFile.error(.malformed, "its field account is not an account's name")
        }
        self.account = account
    }

    /// google-auth uses the same address.
    static let server = "http://metadata.google.internal"
}
