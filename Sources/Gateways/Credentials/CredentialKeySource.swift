import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the key is that credentials are sealed with: a file that the settings name, or a credential of systemd.
public struct CredentialKeySource: Sendable, Hashable {
    /// The name under which systemd hands the key over (`LoadCredential=pushmta-credential-key:…`).
    public static let systemdName = "pushmta-credential-key"

    public let path: String
    /// Whether systemd has put it there, so that nobody can write to it.
    public let isSystemds: Bool

    /// The file that the settings name, else systemd's; nil without either.
    public init?(_ settings: Settings, environment: [String: String]) {
        guard settings.credentialKeyFile.isEmpty else {
            path = settings.credentialKeyFile
            isSystemds = false
            return
        }
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else { return nil }
        path = folder + "/" + Self.systemdName
        isSystemds = true
        guard FileManager.default.fileExists(atPath: path) else { return nil }
    }

    public func load() throws(CredentialKeyError) -> CredentialKeyring {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            let user = ProcessInfo.processInfo.userName
            let problem =
                FileManager.default.fileExists(atPath: path)
                ? "the user \(user) has no right to: give it to that user (chown \(user) \(path); chmod 600 \(path))"
                : "it is not there, or in a folder that the user \(user) may not enter: make one with `pushmta credential create-key \(path)`, or copy that of the other hosts"
            throw CredentialKeyError("The key file \(path) (\(origin)) cannot be read: \(problem).")
        }
        do throws(CredentialError) {
            return try CredentialKeyring(text: text)
        } catch {
            throw CredentialKeyError("\(path): \(error)")
        }
    }

    /// The keys of these settings.
    public static func load(_ settings: Settings, environment: [String: String]) throws(CredentialKeyError)
        -> CredentialKeyring
    {
        guard let source = CredentialKeySource(settings, environment: environment) else {
            throw CredentialKeyError(
                "The setting credentialKeyFile is empty and systemd hands over no credential \(systemdName): make a key with `pushmta credential create-key FILE` and name the file there."
            )
        }
        return try source.load()
    }

    private var origin: String {
        isSystemds ? "systemd credential \(Self.systemdName)" : "setting credentialKeyFile"
    }
}

/// The key for credentials is not there or cannot be used, on this host.
public struct CredentialKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with which file, and what to do.
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
