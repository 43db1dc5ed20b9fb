import PostgresClient
import Testing

@testable import Store

@Suite("Classification of load errors")
struct LoadProblemTests {
    @Test(
        "The SQLSTATE assigns an error to the connection, the delivery or a person",
        arguments: [
            ("57P01", LoadProblem.Scope.connection), ("08006", .connection), ("25006", .connection),
            ("42703", .delivery),
            ("42P01", .delivery), ("42501", .delivery), ("3F000", .delivery), ("55P03", .delivery),
            ("57014", .delivery),
            ("53200", .delivery), ("40P01", .delivery), ("22012", .message), ("22P02", .message), ("21000", .message),
            ("23514", .message), ("P0001", .message), ("38000", .message), ("54001", .message),
        ]
    )
    func scopes(_ state: String, _ scope: LoadProblem.Scope) {
        let error = PostgresError(code: .sqlState(state), message: "words", statement: "SELECT secret")
        let problem = LoadProblem(error)
        #expect(problem.scope == scope && problem.text.contains(state) && !problem.text.contains("SELECT"))
    }

    @Test("An error that is not an answer of the server concerns the connection")
    func connection() {
        for code in [PostgresError.Code.connection, .closed, .timeout] {
            #expect(LoadProblem(PostgresError(code: code, message: "lost")).scope == .connection)
        }
        #expect(LoadProblem(CancellationError()).scope == .connection)
        #expect(LoadProblem(PostgresError(code: .type, message: "no text")).scope == .part)
        #expect(LoadProblem(StoreError(.unavailable, "gone", hint: "wait")).scope == .delivery)
        #expect(LoadProblem(StoreError(.unexpectedAnswer, "odd")).scope == .part)
    }

    @Test("A text by a function's author may contain people's values, so it is left out")
    func authors() {
        for state in ["P0001", "38001", "ZZ123"] {
            let text = LoadProblem(PostgresError(code: .sqlState(state), message: "no city for ada@example.com")).text
            #expect(!text.contains("ada") && text.contains(state))
        }
    }

    @Test("The text is one short line")
    func line() {
        let text = LoadProblem(.delivery, "a\nb\u{1B}[2J\t" + String(repeating: "é", count: 1_000)).text
        #expect(text.hasPrefix("a b") && text.count <= 301 && !text.unicodeScalars.contains("\u{1B}"))
    }
}
