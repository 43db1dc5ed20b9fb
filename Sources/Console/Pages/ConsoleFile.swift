import ConsoleFiles

/// The files built into the program, see ``ConsoleFiles``.
enum ConsoleFile {
    /// Their texts by name.
    static let all: [String: String] = {
        var files: [String: String] = [:]
        var index: Int32 = 0
        while let name = console_file_at(index).name, let text = console_file_at(index).text {
            files[String(cString: name)] = String(cString: text)
            index += 1
        }
        return files
    }()
}
