import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the key that seals credentials is: a file that the settings name, or a systemd credential.
package struct CredentialKeySource: Sendable, Hashable {
    /// The name under which systemd passes the key (`LoadCredential=pushmta-credential-key:…`).
    package static let systemdName = "pushmta-credential-key"

    package let path: String
    /// Whether systemd put it there, in which case no process can write to it.
    package let isSystemds: Bool

    /// The file that the settings name, else systemd's; nil without either.
    package init?(_ settings: Settings, environment: [String: String]) {
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

    package func load() throws(CredentialKeyError) -> CredentialKeyring {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            let user = ProcessInfo.processInfo.userName
            let problem =
                FileManager.default.fileExists(atPath: path)
                ? "the user \(user) may not read it: give it to that user (chown \(user) \(path); chmod 600 \(path))"
                : "it does not exist, or is in a folder that the user \(user) may not enter: create one with `pushmta credential create-key \(path)`, or copy the other hosts' key"
            throw CredentialKeyError("The key file \(path) (\(origin)) cannot be read: \(problem).")
        }
        do throws(CredentialError) {
            return try CredentialKeyring(text: text)
        } catch {
            throw CredentialKeyError("\(path): \(error)")
        }
    }

    /// The keys of these settings.
    package static func load(_ settings: Settings, environment: [String: String]) throws(CredentialKeyError)
        -> CredentialKeyring
    {
        guard let source = CredentialKeySource(settings, environment: environment) else {
            throw CredentialKeyError(
                "The setting credentialKeyFile is empty and systemd passes no credential \(systemdName): create a key with `pushmta credential create-key FILE` and set credentialKeyFile to it."
            )
        }
        return try source.load()
    }

    private var origin: String {
        isSystemds ? "systemd credential \(Self.systemdName)" : "setting credentialKeyFile"
    }
}

/// The key for credentials is missing or unusable on this host.
package struct CredentialKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which file has which fault, and what to do.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
