import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whose access tokens FCM's HTTP v1 API gets: the account of one of Google's credential files, or of the machine itself.
///
/// The files are those of google-auth (`GOOGLE_APPLICATION_CREDENTIALS`). But a file comes from people, also through the console, and those
/// of the kinds without a key tell the process which file to read and where to send what stands there. So tokens go to those
/// addresses of Google that make them, and what is read is what ``TokenSourcePolicy``, the settings of the host, allows.
public enum GoogleAccount: Sendable, CustomStringConvertible, CustomReflectable {
    /// A service account with its key.
    case serviceAccount(ServiceAccount)
    /// Workload identity federation: the token of another identity provider is exchanged (`external_account`).
    case workload(WorkloadIdentity)
    /// One account speaks for another (`impersonated_service_account`).
    case impersonated(ImpersonatedAccount)
    /// The service account of the machine, of which Google's metadata server gives tokens.
    case metadata(MetadataAccount)

    /// Reads a file.
    ///
    /// - Throws: `GatewayCredentialError` that says what is wrong, never a value of the file but its type.
    public init(json: [UInt8]) throws(GatewayCredentialError) {
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
    public var projectID: String {
        switch self {
        case .serviceAccount(let account): account.projectID
        case .workload(let account): account.projectID
        case .impersonated(let account): account.projectID
        case .metadata(let account): account.projectID
        }
    }

    /// Who it is, without material.
    public var description: String {
        switch self {
        case .serviceAccount(let account): account.description
        case .workload(let account): "workload identity of project \(account.projectID)"
        case .impersonated(let account): "impersonated service account \(account.target.email)"
        case .metadata(let account): "metadata server's account of project \(account.projectID)"
        }
    }

    /// Shows nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Checks that the settings of this host allow what the account reads, and where it asks for tokens.
    ///
    /// - Parameter gateways: the hosts of external accounts for which the operator has named certificate authorities: token endpoints may be
    ///   there, too.
    public func requireAllowed(
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

/// What a host's operator allows credentials without a key of their own to read, by the settings: otherwise a user who uploads a credential
/// in the console could have a file or an address of the host's network read, and sent away.
public struct TokenSourcePolicy: Sendable, Hashable {
    /// The folder below which files with tokens lie; empty for none.
    public let folder: String
    /// The addresses that may be asked, word for word.
    public let addresses: [String]
    /// Whether Google's metadata server may be asked.
    public let allowsMetadataServer: Bool

    public init(_ settings: TokenSourceSettings) {
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
                    "this host does not allow the address of its credential_source: add it, word for word, to nmac.fcm.tokenURLs on each host"
                )
            }
        }
    }

    /// A signed grant tells nobody a secret, but posting it reaches whatever this host reaches, and words of the answer come back.
    func require(_ account: ServiceAccount, _ gateways: [String]) throws(GatewayCredentialError) {
        let address = account.tokenURI
        guard !ServiceAccount.googlesTokenURIs.contains(address), !addresses.contains(address) else { return }
        if let host = Self.host(address), gateways.contains(host) { return }
        throw GoogleFile.error(
            .notAllowed,
            "its field token_uri is not Google's, and this host does not allow it: give the file as the Firebase console delivered it, or add the address, word for word, to nmac.fcm.tokenURLs on each host"
        )
    }

    /// The host of an https address as an external account has it; nil if it has none, or somebody's name before it.
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
                "it asks Google's metadata server, which this host does not allow: set nmac.fcm.metadataServer to true, on each host"
            )
        }
    }

    /// Reads a token's file; no link leads out of the folder.
    func read(_ path: String) -> [UInt8]? {
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard !folder.isEmpty, real.hasPrefix(Self.withSlash(root)),
            let kind = try? FileManager.default.attributesOfItem(atPath: real),
            kind[.type] as? FileAttributeType == .typeRegular,
            let size = kind[.size] as? Int, size <= Self.largestFile
        else { return nil }
        return FileManager.default.contents(atPath: real).map(Array.init)
    }

    /// Tokens are a few kilobytes.
    private static let largestFile = 65_536

    private static func withSlash(_ folder: String) -> String { folder.hasSuffix("/") ? folder : folder + "/" }
}

/// Which addresses may be sent tokens: those of the two APIs that google-auth uses. Other hosts of Google's keep what strangers upload.
struct GoogleHosts: Sendable {
    static let google = GoogleHosts(other: nil)
    /// Where a server of a test is.
    let other: String?

    /// What follows a path in an address of one of Google's APIs.
    ///
    /// - Parameter api: the API's name, also with client certificates (`.mtls`).
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

/// A service account that is spoken for: where tokens of it are made.
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

    /// A name, @ and a domain, of what ends or escapes nothing in an address.
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

/// Workload identity federation (RFC 8693): the token of another identity provider for one of Google's.
public struct WorkloadIdentity: Sendable {
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
    /// The field of a JSON object in which the token stands; nil if the whole text is the token.
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
                "its credential_source is a program, and none is run for a credential: let it write its token to a file, and name that file"
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

    /// The provider's token in what was read.
    func subjectToken(_ bytes: [UInt8]) -> String? {
        guard let field else {
            let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            return text.isEmpty ? nil : text
        }
        return (try? JSONBody.decode([String: TextOrNothing].self, from: bytes))?[field]?.text
    }

    /// A text; other values are nothing.
    private struct TextOrNothing: Decodable {
        let text: String?
        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }
}

/// A service account that another account speaks for.
public struct ImpersonatedAccount: Sendable {
    /// The account that impersonates it.
    enum Source: Sendable {
        case serviceAccount(ServiceAccount)
        case workload(WorkloadIdentity)
    }

    let projectID: String
    let source: Source
    let target: ImpersonationTarget
    /// Accounts between the two, as Google's API takes them.
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
                "its source_credentials are a person's, or of an unsupported kind: use those of a service account or a workload identity"
            )
        }
        projectID = try GoogleFile.project(file, target)
        var delegates: [String] = []
        for delegate in file.delegates ?? [] { delegates.append(try GoogleFile.checkedText(delegate, "delegates")) }
        self.delegates = delegates
    }
}

/// The service account of the machine, on Google's own machines and clusters.
public struct MetadataAccount: Sendable {
    let projectID: String
    /// Which of the machine's accounts; `default` unless the file says.
    let account: String

    init(_ file: GoogleFile) throws(GatewayCredentialError) {
        projectID = try GoogleFile.project(file, nil)
        let account = try GoogleFile.checkedText(file.account ?? "default", "account")
        guard !account.contains("/"), !account.contains("?") else {
            throw GoogleFile.error(.malformed, "its field account is not an account's name")
        }
        self.account = account
    }

    /// google-auth asks the same address.
    static let server = "http://metadata.google.internal"
}
