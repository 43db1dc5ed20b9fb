import Foundation
import Testing

/// Rules for all sources, checked on their text.
@Suite struct SourceRuleTests {
    private static let unsafeTargets: Set<String> = ["HTTP2", "PostgresClient", "CurlClient", "OperatingSystem"]

    private func results(_ pattern: String, in text: String) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern)
        let range = NSRange(text.startIndex..., in: text)
        return expression.matches(in: text, range: range).compactMap { match in
            Range(match.range, in: text).map { String(text[$0].prefix(80)) }
        }
    }

    /// A bare fork copies locks held by other threads; Foundation's Process cannot give a child its own process group.
    @Test func noBareProcesses() throws {
        let pattern = #"(?<![\w.])(Foundation\.)?Process\s*\(\s*\)|(?<!\w)v?fork\s*\("#
        for target in try PackageRoot.targets() {
            for file in try PackageRoot.files(target: target, endings: ["swift", "h", "c"]) {
                let found = try results(pattern, in: file.code)
                #expect(found.isEmpty, "\(file.path): \(found); start processes with swift-subprocess")
            }
        }
        #expect(try results(pattern, in: "let p = Process()").count == 1)
        #expect(try results(pattern, in: "pid = fork ()").count == 1)
        #expect(try results(pattern, in: "MyProcess() fork").isEmpty)
    }

    /// SQL keywords are written in capitals, so a string with these is a statement.
    @Test func sqlOnlyInStore() throws {
        let pattern = #"""
            \b(SELECT\s|INSERT\s+INTO\s|DELETE\s+FROM\s|UPDATE\s+[\w."$]+\s+SET\s|TRUNCATE\s|\#
            (CREATE|ALTER|DROP)\s+(TABLE|SCHEMA|VIEW|FUNCTION|INDEX|ROLE|TYPE|SEQUENCE|EXTENSION)\s|\#
            COPY\s+[\w.("$]+.*\s(FROM|TO)\s+STD)
            """#
        for file in try PackageRoot.allFiles() where !["Store", "LaboratoryStore"].contains(file.target) {
            let found = try results(pattern, in: file.literals)
            #expect(found.isEmpty, "\(file.path): \(found); all SQL is written in Store")
        }
        let statements = try PackageRoot.files(target: "Store").reduce(0) {
            try $0 + results(pattern, in: $1.literals).count
        }
        #expect(statements > 10, "the pattern finds no SQL where it is")
    }

    /// swift-subprocess 1.0 exposes the bytes of a pipe only through `withUnsafeBytes`; they are copied at once.
    private static let unsafeFiles: Set<String> = ["Sources/Supervisor/Children/ChildProcess+Conversation.swift"]

    @Test func unsafePointersOnlyBehindSafeSurfaces() throws {
        let pattern =
            #"\bUnsafe\w*Pointer\b|\bwithUnsafe(?!(Throwing)?Continuation)\w*|\bOpaquePointer\b|\bUnmanaged\b|\bunsafe(BitCast|Downcast|Load\w*)\b"#
        var seen = 0
        for file in try PackageRoot.allFiles() {
            let found = try results(pattern, in: file.code)
            seen += found.count
            if Self.unsafeTargets.contains(file.target) || Self.unsafeFiles.contains(file.path) { continue }
            #expect(found.isEmpty, "\(file.path): \(found); unsafe code belongs into \(Self.unsafeTargets.sorted())")
        }
        #expect(seen > 0, "the pattern finds no unsafe code where it is")
    }

    @Test func noTrapsOnOutsideData() throws {
        let pattern = #"\btry!|\bas!|\bfatalError\s*\("#
        for file in try PackageRoot.allFiles() {
            let found = try results(pattern, in: file.code)
            #expect(found.isEmpty, "\(file.path): \(found); nothing that comes from outside may end a process")
        }
    }

    /// Foundation's decoder ends the process on some texts; ``JSONBody`` guards against them.
    @Test func jsonIsDecodedInOnePlace() throws {
        // The SDK runs alone on a device and reads its own file; it has its own guard against the trap.
        let allowed = [
            "Sources/PushCore/JSON/JSONBody.swift", "Sources/ProcessProtocol/LineParser.swift",
            "Sources/MobileSDK/Client/ClientCore.swift",
        ]
        var seen: Set<String> = []
        for file in try PackageRoot.allFiles() where file.path.hasPrefix("Sources/") {
            let found = try results(#"\bJSONDecoder\s*\("#, in: file.code)
            guard !found.isEmpty else { continue }
            seen.insert(file.path)
            #expect(allowed.contains(file.path), "\(file.path): \(found); use JSONBody")
        }
        #expect(seen == Set(allowed), "the pattern finds no decoder where one is")
    }

    @Test func filesAreShort() throws {
        for file in try PackageRoot.allFiles() {
            #expect(
                file.lineCount <= 800,
                "\(file.path) has \(file.lineCount) lines; split it by what its parts are about"
            )
        }
    }

    /// Shorter types with fewer users may stand beside the type that they serve.
    private static let (ownFileLines, ownFileUsers) = (25, 3)

    /// Types that stay where they are. The first row shares file-private members with its neighbours; the others are
    /// not moved yet.
    private static let unmoved: Set<String> = [
        "AnswerGroup", "AuditAuthor", "CSVReport", "FrameReader", "JournalAnswers", "UserKeyProofKey",
        "Authorization", "BinaryAdmission", "BinaryErrorDecoder", "BinaryJudge", "BinaryTLS", "CopiedExchange",
        "CredentialChoice", "Decision", "DialFailure", "FCMErrorBody", "Flight", "FollowUp", "ImpersonationTarget",
        "JSONWebToken", "NoAnswerReason", "OutcomeCounts", "ResolvedBatches", "SealedCertificate", "ShownField",
        "TokenFailure", "TokenSourcePolicy", "TopicGuard", "WaitingMessages", "WorkloadIdentity",
    ]

    @Test func typesThatOthersUseStandInFilesOfTheirNames() throws {
        let found = MisplacedType.all(
            in: try PackageRoot.allFiles(),
            lines: Self.ownFileLines,
            users: Self.ownFileUsers
        )
        for type in found where !Self.unmoved.contains(type.name) {
            Issue.record(
                """
                \(type.path): other files (\(type.users)) use \(type.name), which has \(type.lines) lines: move it, with its \
                extensions and the imports it needs, to \(type.properPath)
                """
            )
        }
        let moved = Self.unmoved.subtracting(found.map(\.name))
        #expect(moved.isEmpty, "\(moved.sorted()) stand in files of their names: remove them from the list")
    }

    @Test func misplacedTypesAreFound() {
        func lines(_ declaration: String, _ number: Int) -> String {
            "\(declaration) {" + String(repeating: "\n", count: number - 1) + "}\n"
        }
        func file(_ name: String, _ text: String, target: String = "T") -> SourceFile {
            SourceFile(target: target, path: "Sources/\(target)/Folder/\(name).swift", text: text)
        }
        let main = """
            // struct Commented {}
            struct Main { struct Inner {} }
            extension Main { enum Nested {} }
            @frozen package enum Often { case one }
            struct Seldom {}
            let text = \"""
                struct Quoted {
                \"""
            """
        let used = "Main Inner Nested Often Seldom Long Short Hidden Quoted Commented"
        let files = [
            file("Main", main + "\n" + lines("final class Long: Main", 25) + lines("actor Short", 24)),
            file("Main+Topic", lines("private struct Hidden", 40) + lines("struct Alone", 40)), file("One", used),
            file("Two", "Often, Seldom"), file("Other", "Often Seldom Long Short", target: "U"),
        ]
        let found = MisplacedType.all(in: files, lines: 25, users: 3)
        #expect(found.map(\.name) == ["Often", "Long"])
        #expect(found.map(\.lines) == [1, 25] && found.map(\.users) == [3, 1])
        #expect(found.last?.properPath == "Sources/T/Folder/Long.swift")
        let literal = "struct Text {\n    let text = \"\"\"\n        a \\\n        b\n        \"\"\" /*\n*/\n}\n"
        #expect(TopLevelType.all(in: file("Text", literal).code).map(\.lines) == [7])
    }
}
