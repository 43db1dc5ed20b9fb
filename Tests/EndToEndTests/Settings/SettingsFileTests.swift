import Foundation
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// `Config/pushmta.yaml` matches the code.
@Suite struct SettingsFileTests {
    private let path = ProjectFolder.path + "/Config/pushmta.yaml"

    @Test func theFileHoldsEveryKeyWithItsDefault() async throws {
        let loaded = try await SettingsLoader(file: path, environment: [:], flags: []).load()
        #expect(loaded.values == Settings())
        #expect(Set(loaded.sources.keys) == Set(Settings.definitions.map(\.key)))
    }

    /// The comment above each key states its unit and its default.
    @Test(arguments: Settings.definitions.map(\.key))
    func theCommentSaysUnitAndDefault(_ key: String) throws {
        let definition = try #require(Settings.definitions.first { $0.key == key })
        let comment = try #require(try comments()[key], "no comment above \(key)").lowercased()
        #expect(comment.contains("default"), "the comment of \(key) says no default")
        let unit = definition.unit.lowercased()
        #expect(
            comment.contains(unit) || comment.contains(unit.dropLast()),
            "the comment of \(key) does not say \(unit)"
        )
        if case .integer = definition.access {
            #expect(
                comment.contains("default " + definition.text(in: Settings())),
                "the comment of \(key) has another default"
            )
        }
    }

    /// The comment above each key that has a value.
    private func comments() throws -> [String: String] {
        var result: [String: String] = [:]
        var comment: [String] = []
        var path: [(indentation: Int, name: String)] = []
        for line in try String(contentsOfFile: self.path, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        ) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("#") {
                comment.append(text.dropFirst().trimmingCharacters(in: .whitespaces))
                continue
            }
            defer { comment = [] }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let indentation = line.prefix { $0 == " " }.count
            path.removeAll { $0.indentation >= indentation }
            path.append((indentation, String(text[..<colon])))
            if text.index(after: colon) != text.endIndex {
                result[path.map(\.name).joined(separator: ".")] = comment.joined(separator: " ")
            }
        }
        return result.filter { !$0.value.isEmpty }
    }
}
