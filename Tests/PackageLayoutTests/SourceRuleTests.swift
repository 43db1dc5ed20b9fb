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
}
