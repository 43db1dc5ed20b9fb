import Foundation
import Testing

/// Each target's main file begins with the target's manual: what it does, how it is used, what runs where, what
/// survives, what fails.
@Suite struct ManualTests {
    /// The comment at the top of a file, before anything else.
    private struct Manual {
        let target: String
        /// The path below the project's folder.
        let path: String
        let lines: [Substring]
        /// Whether an empty line separates it from what follows.
        let standsAlone: Bool

        /// The manual at the beginning of a file; nil if there is none.
        init?(_ file: SourceFile) {
            guard file.text.hasPrefix("// \(file.target): ") else { return nil }
            target = file.target
            path = file.path
            let all = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            lines = Array(all.prefix { $0.hasPrefix("//") })
            standsAlone = all.dropFirst(lines.count).first == ""
        }

        /// The names of files under the last heading.
        var namedFiles: [String] {
            let last = lines.split { $0 == "// SEE ALSO" }.last ?? []
            return last.joined(separator: " ").matches(of: /[\w+\/.-]+\.\w+/).map { String($0.output) }
        }
    }

    /// At least 15 lines describe a module; a longer text than 45 belongs in a document.
    private static let lengths = 15...45
    private static let maxLineLength = 140
    private static let headings = ["// WHAT IT DOES", "// HOW IT IS USED", "// FAILURES", "// SEE ALSO"]

    /// The targets with code: a system library has only a module map.
    private func targets() throws -> [String] {
        try PackageRoot.targets().filter { target in
            let map = PackageRoot.url.appending(path: "Sources/\(target)/module.modulemap")
            return !FileManager.default.fileExists(atPath: map.path)
        }
    }

    private func manuals(_ target: String) throws -> [Manual] {
        try PackageRoot.files(target: target, endings: ["swift", "c", "java", "m"]).compactMap { Manual($0) }
    }

    @Test func eachTargetHasOneManual() throws {
        let targets = try targets()
        #expect(targets.count > 10)
        for target in targets {
            let manuals = try manuals(target)
            #expect(
                manuals.count == 1,
                "\(target) has \(manuals.count) manuals: its main file begins with \"// \(target): …\" (\(manuals.map(\.path)))"
            )
            for manual in manuals {
                #expect(Self.lengths.contains(manual.lines.count), "\(manual.path): \(manual.lines.count) lines")
                #expect(manual.standsAlone, "\(manual.path): an empty line ends the manual")
                for heading in Self.headings {
                    #expect(manual.lines.contains { $0 == heading }, "\(manual.path) lacks \(heading)")
                }
                for line in manual.lines where line.count > Self.maxLineLength {
                    Issue.record("\(manual.path): a line has \(line.count) columns: \(line)")
                }
            }
        }
    }

    @Test func manualsNameFilesThatAreThere() throws {
        var number = 0
        for manual in try targets().flatMap(manuals) {
            let names = manual.namedFiles
            number += names.count
            for name in names {
                let places = ["Sources/\(manual.target)/\(name)", name].map { PackageRoot.url.appending(path: $0).path }
                #expect(
                    places.contains { FileManager.default.fileExists(atPath: $0) },
                    "\(manual.path) names \(name), which is neither in the target nor in the project"
                )
            }
        }
        #expect(number > 50, "\(number)")
    }

    /// The map leads to each manual.
    @Test func theMapNamesEachMainFile() throws {
        let map = try String(contentsOf: PackageRoot.url.appending(path: "Sources/README.md"), encoding: .utf8)
        for manual in try targets().flatMap(manuals) {
            let link = "](\(manual.path.dropFirst("Sources/".count)))"
            let rows = map.split(separator: "\n").filter { $0.hasPrefix("| `\(manual.target)` |") }
            #expect(rows.contains { $0.contains(link) }, "Sources/README.md: the row of \(manual.target) lacks \(link)")
        }
    }
}
