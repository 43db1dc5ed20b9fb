import Store

/// What an operator should know of tracking spools whose process is gone.
struct SpoolNotice: Sendable {
    /// The host that has them.
    let host: String
    /// What is wrong and what to do.
    let text: String

    /// The hosts whose workers see such spools; workers that are gone say nothing of now.
    static func all(_ workers: [FeedbackWorkerRow]) -> [SpoolNotice] {
        var seen: Set<String> = []
        return workers.filter { ($0.state == "acting" || $0.state == "standby") && $0.waitingSpools > 0 }
            .filter { seen.insert($0.host).inserted }
            .map { SpoolNotice(host: $0.host, files: $0.waitingSpools, bytes: $0.waitingSpoolBytes) }
    }

    private init(host: String, files: Int32, bytes: Int64) {
        self.host = host
        text =
            "\(files) tracking spools of web processes that are gone have hits that are not loaded (\(bytes >> 10) KiB can be loaded). If they stay, there are files in web.workingPath that the feedback worker may not open, or that were put aside as .damaged or .unreadable: its log says which"
    }
}
