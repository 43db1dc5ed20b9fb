/// Files next to the tests.
enum Fixture {
    static func path(_ name: String, _ file: String = #filePath) -> String {
        let support = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (support.dropLast() + ["Fixtures", Substring(name)]).joined(separator: "/")
    }
}
