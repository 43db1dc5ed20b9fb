import Foundation
import Gateways
import PushCore

/// Whether others than the engine's user may read the key under which credentials are sealed.
struct CredentialKeyFileCheck: Sendable {
    /// The settings of this host.
    let settings: Settings

    /// What was found; nothing without a key file, as the check of each credential says that.
    var results: [CheckResult] {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment),
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: source.path).resolvingSymlinksInPath().path
            ), let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { return [] }
        let subject = "credential key file"
        // systemd's own file is its business; it is readable by the service's user only.
        guard mode & 0o077 != 0, !source.isSystemds else {
            return [CheckResult(subject, .ok, "\(source.path) is for its user only")]
        }
        return [
            CheckResult(
                subject,
                .warning,
                "\(source.path) has the mode \(String(mode & 0o777, radix: 8)): group or others have rights on it, and with it and the database they open every credential. `chmod 600 \(source.path)`"
            )
        ]
    }
}
