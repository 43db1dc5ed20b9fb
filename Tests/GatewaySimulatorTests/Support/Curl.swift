import Foundation

/// curl as a client that we did not write.
struct Curl {
    /// An answer as curl prints it with `-i`.
    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: String

        init?(_ output: String) {
            // Answers to `Expect: 100-continue` and the like come first; the last head counts.
            let parts = output.components(separatedBy: "\r\n\r\n")
            guard let head = parts.lastIndex(where: { $0.hasPrefix("HTTP/") }) else { return nil }
            let lines = parts[head].components(separatedBy: "\r\n")
            guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
            self.status = status
            headers = [:]
            for line in lines.dropFirst() {
                let pair = line.split(separator: ":", maxSplits: 1)
                guard pair.count == 2 else { continue }
                headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
            }
            body = parts[(head + 1)...].joined(separator: "\r\n\r\n")
        }
    }

    struct Failure: Error {
        var message: String
    }

    let caFile: String

    /// Runs curl with those arguments besides trust and output.
    func run(_ arguments: [String], body: [UInt8]? = nil) throws -> Answer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        var arguments = ["-sS", "-i", "--max-time", "30", "--cacert", caFile] + arguments
        var bodyFile: URL?
        if let body {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
            try Data(body).write(to: file)
            arguments += ["--data-binary", "@\(file.path)"]
            bodyFile = file
        }
        defer { if let bodyFile { try? FileManager.default.removeItem(at: bodyFile) } }
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let answer = Answer(text) else { throw Failure(message: "\(complaint)\n\(text)") }
        return answer
    }
}
