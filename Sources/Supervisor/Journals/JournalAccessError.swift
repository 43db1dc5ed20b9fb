import PushCore
import SystemPackage

/// A journal is there and the system does not let it be opened, locked or read: the disk is broken, or the rights are wrong.
///
/// Unlike trouble with the database this may last for ever, so the parts of its child are left to their leases.
struct JournalAccessError: Error, CustomStringConvertible {
    let path: FilePath
    let cause: any Error

    var description: String { "the journal \(path) cannot be read: \(cause)" }

    /// Does something with a journal's file; what is wrong with its content is not of this kind.
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
