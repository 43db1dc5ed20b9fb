import Foundation
import Testing

/// Documents name existing files.
@Suite struct PaperTests {
    /// Markdown links, relative to the document, and paths in code marks, relative to the project.
    private static func names(_ text: String) -> (links: [String], paths: [String]) {
        let links = text.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/).map { String($0.1) }
        let paths = text.matches(of: /`((?:Sources|Tests|Deploy|Config)\/[\w.\/+-]+)`/).map { String($0.1) }
        return (links.filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }, paths)
    }

    @Test func everyLinkAndPathIsThere() throws {
        let root = PackageRoot.url
        let papers = ["", "Sources", "Config", "Deploy/guide"].flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
            return names.filter { $0.hasSuffix(".md") }.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
        #expect(papers.count > 10)
        var number = 0
        for paper in papers {
            let file = root.appending(path: paper)
            let (links, paths) = Self.names(try String(contentsOf: file, encoding: .utf8))
            number += links.count + paths.count
            for link in links {
                let target = file.deletingLastPathComponent().appending(path: link)
                #expect(FileManager.default.fileExists(atPath: target.path), "\(paper) links to \(link)")
            }
            for path in paths {
                #expect(
                    FileManager.default.fileExists(atPath: root.appending(path: path).path),
                    "\(paper) names \(path)"
                )
            }
        }
        #expect(number > 100, "\(number)")
    }
}
