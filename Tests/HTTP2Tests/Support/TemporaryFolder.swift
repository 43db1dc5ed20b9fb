import Foundation

/// A folder of this test run, removed when it ends.
enum TemporaryFolder {
    static let shared = Result {
        let folder = NSTemporaryDirectory() + "/pushmta-http2-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { TemporaryFolder.remove() }
        return folder
    }

    private static func remove() {
        guard case .success(let folder) = shared else { return }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
