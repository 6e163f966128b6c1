#!/bin/sh
# Builds a small ffmpeg and ffprobe under the LGPL from Debian's own source package, in a stage of the media runtime image.
# Result: /opt/ffmpeg, to be copied to /: programs, the libraries that a base image lacks, and the packages' entries for
# bills of materials. No network protocols, no formats that name other files.
set -eu
export DEBIAN_FRONTEND=noninteractive

# Source packages, in either form of the lists.
for list in /etc/apt/sources.list.d/*.sources; do
  [ -e "$list" ] && sed -i 's/^Types: deb$/Types: deb deb-src/' "$list"
done
[ -e /etc/apt/sources.list ] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >>/etc/apt/sources.list
apt-get update -qq
apt-get install -qq -y --no-install-recommends gcc libc6-dev make nasm pkgconf xz-utils dpkg-dev \
  libvpx-dev libopus-dev libdav1d-dev zlib1g-dev libmp3lame-dev libopenh264-dev >/dev/null
mkdir /source && cd /source
apt-get source -qq ffmpeg
cd ffmpeg-*/

prefix=/usr/local/lib/ffmpeg
./configure --prefix=$prefix --enable-rpath --disable-everything --disable-doc --disable-network --disable-autodetect \
  --disable-debug --disable-ffplay --disable-avdevice --enable-shared --disable-static --enable-zlib --enable-libvpx \
  --enable-libopus --enable-libdav1d --enable-libmp3lame --enable-libopenh264 --enable-protocol=file,pipe \
  --enable-demuxer=mov,matroska,avi,wav,mp3,aac,ogg,flac,gif,mpegts,flv,asf,rawvideo,pcm_f32le,w64,aiff,au,caf,amr,ac3,eac3,mpegps \
  --enable-muxer=mp4,webm,wav,ogg,mp3,rawvideo,pcm_f32le,pcm_s16le,gif,null,flac,adts \
  --enable-decoder='h264,hevc,vp8,vp9,libdav1d,mpeg4,mpeg2video,mpeg1video,h263,mjpeg,gif,rawvideo,png,aac,mp3float,vorbis,opus,flac,alac,pcm_*,adpcm_*,wmav1,wmav2,amrnb,amrwb,ac3,eac3,wmv1,wmv2,wmv3,vc1,msmpeg4v3,theora,prores,flv' \
  --enable-encoder=libopenh264,libvpx_vp9,libvpx_vp8,libopus,libmp3lame,aac,flac,pcm_s16le,pcm_f32le,rawvideo,gif \
  --enable-parser=h264,hevc,vp8,vp9,av1,aac,mpegaudio,opus,vorbis,flac,mpeg4video,mpegvideo,h263,mjpeg,gif,vc1,ac3 \
  --enable-bsf=h264_mp4toannexb,hevc_mp4toannexb,aac_adtstoasc,vp9_superframe,extract_extradata,av1_frame_merge,vp9_superframe_split \
  --enable-filter=scale,fps,select,format,aformat,aresample,anull,null,trim,setpts,transpose,rotate,hflip,vflip,crop,pad,palettegen,paletteuse,split
make -j"$(nproc)" >/dev/null
make install >/dev/null
strip $prefix/bin/* $prefix/lib/*.so

out=/opt/ffmpeg
mkdir -p $out$prefix/lib $out/usr/local/bin $out/var/lib/dpkg/status.d
cp -P $prefix/lib/*.so.* $out$prefix/lib/
for program in ffmpeg ffprobe; do
  mkdir -p $out$prefix/bin
  cp $prefix/bin/$program $out$prefix/bin/
  ln -s $prefix/bin/$program $out/usr/local/bin/$program
done
# Some are known by their place before /usr took over /lib.
owner_of() {
  for place in "$1" "$(readlink -f "$1")" "/usr$1" "$(readlink -f "$1" | sed 's,^/usr,,')"; do
    if found=$(dpkg-query --search "$place" 2>/dev/null); then
      echo "${found%%:*}"
      return
    fi
  done
  echo "no package has $1" >&2
  return 1
}
entry() { dpkg-query --show --showformat '${Package}\t${Version}\t${Architecture}\t${source:Package}\n' "$1"; }
# Libraries that are linked to, and not part of every base image, go beside ffmpeg's own.
ldd $prefix/lib/*.so.* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r library; do
  case $library in $prefix/*) continue ;; esac
  owner=$(owner_of "$library")
  case $owner in libc6 | libgcc-s1 | libstdc++6 | zlib1g) continue ;; esac
  cp "$library" $out$prefix/lib/
  echo "$owner"
done >/tmp/owners
sort -u /tmp/owners | while read -r owner; do
  entry "$owner" | awk -F '\t' '{print "Package: " $1 "\nStatus: install ok installed\nVersion: " $2 "\nArchitecture: " $3 "\nSource: " $4}' \
    >$out/var/lib/dpkg/status.d/"$owner"
done
version=$(dpkg-parsechangelog --show-field Version)
printf 'Package: ffmpeg\nStatus: install ok installed\nVersion: %s\nArchitecture: %s\nSource: ffmpeg\n' \
  "$version" "$(dpkg --print-architecture)" >$out/var/lib/dpkg/status.d/ffmpeg
find $out -exec touch -h -d @1577836800 {} +
