import Foundation
import SystemPackage

/// Whether the folder of the journals can be written and synced.
struct JournalFolderCheck {
    /// The folder.
    let folder: String

    /// What was found.
    var result: CheckResult {
        let subject = "journal folder"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = FilePath(folder + "/doctor-\(UUID().uuidString)")
            let descriptor = try FileDescriptor.open(
                file,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
            defer { try? FileManager.default.removeItem(atPath: file.string) }
            try descriptor.closeAfter { _ = try descriptor.writeAll("x".utf8) }
            return CheckResult(subject, .ok, "\(folder) can be written")
        } catch {
            return CheckResult(
                subject,
                .failed,
                "\(folder) cannot be written: \(error). Make it for the engine's user, or set mta.workingPath."
            )
        }
    }
}
