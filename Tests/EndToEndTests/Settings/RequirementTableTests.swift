import ArgumentParser
import Foundation
import Testing

@testable import pushmta
@testable import pushmta_lab

/// `Deploy/guide/requirements.md` names only tests, commands, files, settings and content keys that exist.
@Suite struct RequirementTableTests {
    /// A line of the table.
    private struct Requirement {
        let number: String
        let state: String
        let evidence: String
        let gap: String

        /// Nil if the text is not a line of the table.
        init?(_ line: Substring) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 8, Int(cells[1]) != nil else { return nil }
            (number, state, evidence, gap) = (cells[1], cells[4], cells[5], cells[6])
        }

        /// The evidence in code marks.
        var names: [String] { evidence.matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    /// Whether it is a test or a command: the existence of a file proves nothing about its function.
    private static func runs(_ name: String) -> Bool {
        name.firstMatch(of: /^\w+Tests\.|^pushmta(-lab)? |^Deploy\/[\w-]+$/) != nil
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: ProjectFolder.path + "/" + path, encoding: .utf8)
    }

    private static func page() throws -> String { try text("Deploy/guide/requirements.md") }

    @Test func everyLineSaysWhetherItIsThereAndWhatShowsIt() throws {
        let lines = try Self.page().split(separator: "\n").filter { $0.firstMatch(of: /^\| *[0-9]/) != nil }
        let table = lines.compactMap(Requirement.init)
        #expect(table.count == lines.count && table.count > 100, "each line has six cells")
        #expect(table.map(\.number) == (1...table.count).map(String.init))
        for line in table {
            #expect(["yes", "partly", "no"].contains(line.state), "\(line.number): \(line.state)")
            #expect(line.state == "yes" || !line.gap.isEmpty, "\(line.number) does not say what is missing")
            #expect(line.state == "no" || !line.evidence.isEmpty, "\(line.number) does not say what shows it")
            let runs = line.names.contains(where: Self.runs)
            #expect(line.state != "yes" || runs, "\(line.number) names nothing that runs")
        }
    }

    @Test func whatItNamesExists() throws {
        let things = try Things()
        var number = 0
        for line in try Self.page().split(separator: "\n").compactMap(Requirement.init) {
            for name in line.names {
                number += 1
                #expect(try things.has(name), "\(line.number) names \(name)")
            }
        }
        #expect(number > 200)
        // Verify that missing names are found; otherwise the test would prove nothing.
        for name in [
            "StoreTests.TemplateTests/absent", "StoreTests.AbsentTests/readyMade",
            "WebServerTests.TemplateTests/readyMade",
            "pushmta app absent", "pushmta app add --absent", "pushmta app add --ico", "pushmta.absent",
            "Deploy/absent",
            "mta.child.absent", "absent",
        ] {
            #expect(try !things.has(name), "\(name)")
        }
    }

    @Test func theKeysOfAContentThatItNamesExist() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(Self.text("Config/content.schema.json").utf8))
        let definitions = try #require((schema as? [String: Any])?["$defs"] as? [String: [String: Any]])
        let known = Set(definitions.values.flatMap { ($0["properties"] as? [String: Any] ?? [:]).keys })
        let lines = try Self.page().split(separator: "\n").filter { Requirement($0) != nil }
        let named = lines.flatMap { $0.matches(of: /\*([a-z_]+)\*/).map { String($0.1) } }
        #expect(!named.isEmpty)
        for name in named { #expect(known.contains(name), "\(name)") }
    }

    @Test func itsLinksLeadToHeadingsThatThereAre() throws {
        for link in try Self.page().matches(of: /\]\(([a-z-]+\.md)#([a-z0-9-]+)\)/) {
            let headings = try Self.text("Deploy/guide/\(link.1)").split(separator: "\n").filter { $0.hasPrefix("#") }
            let anchors = headings.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" }
            }
            #expect(anchors.contains(String(link.2)), "\(link.1) has no heading \(link.2)")
        }
    }
}

/// The names that the table may contain.
private struct Things {
    /// The sources of existing names: the texts of test files by target, of the schema, and of the settings.
    private let tests: [String: [String]]
    private let schema: String
    private let settings: String

    init() throws {
        let root = ProjectFolder.path
        let files = FileManager.default
        var tests: [String: [String]] = [:]
        for path in try files.subpathsOfDirectory(atPath: root + "/Tests") where path.hasSuffix(".swift") {
            let target = String(path.prefix { $0 != "/" })
            tests[target, default: []].append(try String(contentsOfFile: "\(root)/Tests/\(path)", encoding: .utf8))
        }
        self.tests = tests
        let folder = root + "/Sources/Schema/version1"
        schema = try files.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sql") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
        settings = try String(
            contentsOfFile: root + "/Sources/PushCore/Settings/Settings+Definitions.swift",
            encoding: .utf8
        )
    }

    /// Whether a test, command, object of the contract, file or setting with this name exists.
    func has(_ name: String) throws -> Bool {
        if let test = name.wholeMatch(of: /(\w+Tests)\.(\w+Tests)\/(\w+)/) {
            let (target, suite, function) = (String(test.1), String(test.2), String(test.3))
            let beginnings = ["struct \(suite) ", "struct \(suite):", "extension \(suite) "]
            return tests[target]?
                .contains { text in
                    text.contains("func \(function)(") && beginnings.contains { text.contains($0) }
                } == true
        }
        for program: any ParsableCommand.Type in [PushMTA.self, PushMTALab.self] {
            let words = name.split(separator: " ").map(String.init)
            if words.count > 1, words[0] == program.configuration.commandName {
                return isCommand(program, Array(words.dropFirst()))
            }
        }
        if name.hasPrefix("pushmta.") {
            return ["VIEW", "TABLE", "FUNCTION"]
                .contains { kind in
                    ["(", " "].contains { schema.contains("CREATE \(kind) \(name)\($0)") }
                }
        }
        if name.contains("/") || name.hasSuffix(".swift") {
            return FileManager.default.fileExists(atPath: ProjectFolder.path + "/" + name)
        }
        return settings.contains("\"\(name)\"")
    }

    /// Whether the words are a command, with existing options for those that begin with two dashes.
    private func isCommand(_ program: any ParsableCommand.Type, _ words: [String]) -> Bool {
        var command = program
        for word in words where !word.hasPrefix("--") {
            guard
                let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { return false }
            command = next
        }
        // Each is at the beginning of a line of the help, before a blank, a comma or a slash.
        let help = program.helpMessage(for: command).split(separator: "\n").map { $0.drop { $0 == " " } }
        return words.filter { $0.hasPrefix("--") }
            .allSatisfy { option in
                help.contains { line in
                    line.hasPrefix(option) && (line.dropFirst(option.count).first.map { " ,/".contains($0) } ?? true)
                }
            }
    }
}
