internal import Telemetry

@main
enum Gateway {
    static func main() {}
}
