# SPDX-License-Identifier: Apache-2.0
# A libvirtd of this checkout's own, which runs as long as there is a virtual machine, and how Vagrant gets at it.

require "fileutils"
require "socket"
require "uri"

module Pathwarp
  # The folder with all of libvirtd's files, and what runs in it. Pathwarp itself has one for each of its runs.
  class Libvirt
    PATIENCE_S = 30

    attr_reader :state, :engine

    # `engine`: it is the engine's, which starts and ends it.
    def initialize(state, engine: false)
      @state = state
      @engine = engine
    end

    # `kvm` or `qemu`, as libvirt has it.
    def accelerator
      @accelerator ||= IO.popen([File.join(__dir__, "accelerator.sh")], &:read).chomp
    end

    def socket
      File.join(state, "run/libvirt/libvirt-sock")
    end

    def uri
      "qemu+unix:///system?socket=#{URI.encode_www_form_component(socket)}"
    end

    def running?
      UNIXSocket.open(socket) { true }
    rescue SystemCallError
      false
    end

    # Start it unless it runs; when this process is over, it goes as well unless there are machines.
    def start
      @leaving ||= at_exit { stop unless engine } || true
      return if running?
      raise "libvirtd is gone" if engine

      raise "#{socket} is too long a name for a socket" if socket.bytesize > 107

      alone do
        next if running?

        pid = Process.spawn(File.join(__dir__, "start.sh"), state, pgroup: true)
        Process.detach(pid)
        File.write(pid_file, pid.to_s)
        wait("libvirtd does not answer; see #{state}/log/libvirtd.log") { running? }
      end
    end

    def stop
      alone do
        next if Dir.glob(File.join(state, "etc/qemu/*.xml")).any?

        # The number may have been given away since this host was started, if nobody answers.
        Process.kill("KILL", File.read(pid_file).to_i) if running?
        wait("libvirtd does not end") { !running? }
        FileUtils.rm_rf(state)
      end
    end

    # The port of this host's loopback interface that leads to a machine's sshd: chosen once.
    def port(machine)
      file = File.join(state, "#{machine}.port")
      return File.read(file).to_i if File.exist?(file)

      TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    end

    def keep_port(machine, port)
      FileUtils.mkdir_p(state)
      File.write(File.join(state, "#{machine}.port"), port.to_s)
    end

    private

    # One command of Vagrant's at a time.
    def alone
      FileUtils.mkdir_p(state)
      File.open("#{state}.lock", "w") do |lock|
        lock.flock(File::LOCK_EX)
        yield
      end
    end

    def wait(complaint)
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE_S
      until yield
        raise complaint if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        sleep 0.05
      end
    end

    def pid_file
      File.join(state, "pid")
    end
  end

  # Vagrant asks libvirt only through this; there is no DHCP to ask for an address.
  module Driver
    class << self
      attr_accessor :libvirt
    end

    def connection
      Driver.libvirt.start
      super
    end

    def get_ipaddress(_domain = nil)
      "127.0.0.1"
    end
  end
end
