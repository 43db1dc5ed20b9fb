import Foundation

@testable import Administration
@testable import Laboratory

/// The project that the tests belong to.
enum ProjectFolder {
    /// Its folder.
    static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
