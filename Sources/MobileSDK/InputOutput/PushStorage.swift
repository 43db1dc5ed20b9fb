import Foundation

/// Keeps what has to outlive the process.
public protocol PushStorage: Sendable {
    /// Reads what was written under the name; nil when nothing was.
    func read(_ name: String) throws -> Data?
    /// Writes all of it or nothing.
    func write(_ data: Data, _ name: String) throws
}
