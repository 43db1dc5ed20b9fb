import PushCore
import SystemPackage

/// A journal exists but cannot be opened, locked or read: the disk is broken, or the permissions are wrong.
///
/// Unlike a database failure this may be permanent, so the parts of its child are left to their leases.
struct JournalAccessError: Error, CustomStringConvertible {
    let path: FilePath
    let cause: any Error

    var description: String { "the journal \(path) cannot be read: \(cause)" }

    /// Accesses a journal's file. Errors in its content pass through; any other error is wrapped.
    static func wrapping<Result>(_ path: FilePath, _ access: () throws -> Result) throws -> Result {
        do {
            return try access()
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalAccessError(path: path, cause: error)
        }
    }
}
