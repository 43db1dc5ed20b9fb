import Foundation

/// The package's files.
enum PackageRoot {
    /// The folder of `Package.swift`.
    static let url = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The targets with a folder in `Sources`.
    static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent("Sources").path)
            .filter { !$0.hasPrefix(".") && !$0.hasSuffix(".md") }.sorted()
    }

    /// The source files of a target, with the given endings.
    static func files(target: String, endings: Set<String> = ["swift"]) throws -> [SourceFile] {
        let folder = url.appendingPathComponent("Sources").appendingPathComponent(target)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return try paths.filter { endings.contains(($0 as NSString).pathExtension) }.map {
            let text = try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            return SourceFile(target: target, path: "Sources/\(target)/\($0)", text: text)
        }
    }

    /// All Swift files below `Sources`.
    static func allFiles() throws -> [SourceFile] {
        try targets().flatMap { try files(target: $0) }
    }
}
