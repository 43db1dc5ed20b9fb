import Foundation

@testable import Administration
@testable import Laboratory

/// The project of the tests.
enum ProjectFolder {
    /// Its folder.
    static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
